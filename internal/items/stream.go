package items

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/tinylib/msgp/msgp"

	"github.com/dsconv/dsconv/formats"
)

// Sender gives the samples of a Stream one after another.
type Sender interface {
	// Next sets s to the next sample. Errors are formats.ErrEnd, *formats.Keep, and such as a Dataset's Read has.
	Next(s *formats.Sample) error
	// Begin and Kept are those of a formats.Growing. Begin is called if Header.Resumes.
	Begin(samples int, state []byte) error
	Kept(samples int) error
	// Close ends a call of Next.
	Close() error
}

// Stream is a dataset of unknown length, whose samples a Sender gives.
type Stream struct {
	header *Header
	meta   *formats.Meta
	from   Sender

	mu    sync.Mutex
	ended error // of all further reads
}

var (
	_ formats.Dataset = (*Stream)(nil)
	_ formats.Growing = (*Stream)(nil)
)

// NewStream returns the dataset of a Sender, which it closes.
func NewStream(h *Header, from Sender) *Stream {
	return &Stream{header: h, meta: h.begin(), from: from}
}

// OpenStream takes over the file descriptor of a process's socket.
func OpenStream(h *Header, fd uintptr) (*Stream, error) {
	p, err := newProcess(fd, h)
	if err != nil {
		return nil, err
	}
	return NewStream(h, sender{p}), nil
}

// Meta implements formats.Dataset.
func (d *Stream) Meta() *formats.Meta { return d.meta }

// Len implements formats.Dataset.
func (d *Stream) Len() int { return math.MaxInt32 }

// Unlabeled implements formats.Unlabeled.
func (d *Stream) Unlabeled() {}

// Ascending implements formats.Growing.
func (d *Stream) Ascending() bool { return d.header.Ascending }

// Decoded reports whether images are pixels.
func (d *Stream) Decoded() bool { return d.header.Decoded }

// Resumes implements formats.Growing.
func (d *Stream) Resumes() bool { return d.header.Resumes }

// Info implements formats.Dataset.
func (d *Stream) Info(i int) (formats.Info, error) { return d.header.info(i), nil }

// Read implements formats.Dataset.
func (d *Stream) Read(i int, s *formats.Sample) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended != nil {
		return d.ended
	}
	if err := d.from.Next(s); err != nil {
		if errors.Is(err, formats.ErrEnd) || errors.Is(err, formats.ErrClosed) {
			d.ended = err // nothing comes after it
		}
		return err
	}
	if s.Key == "" {
		s.Key = d.header.info(i).Key
		if s.Split != "" {
			s.Key = s.Split + "/" + s.Key
		}
	}
	return nil
}

// Begin implements formats.Growing.
func (d *Stream) Begin(i int, state []byte) error {
	if !d.header.Resumes {
		return nil
	}
	return d.from.Begin(i, state)
}

// Kept implements formats.Growing.
func (d *Stream) Kept(i int) error { return d.from.Kept(i) }

// Close implements formats.Dataset.
func (d *Stream) Close() error {
	err := d.from.Close() // ends the Read that holds mu
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = fmt.Errorf("the samples of a program: %w", formats.ErrClosed)
	return err
}

// sender is a process that sends samples until there are none.
type sender struct{ *process }

// Next implements Sender.
func (p sender) Next(s *formats.Sample) error {
	err := p.read(s)
	_, bad := errors.AsType[sampleError](err)
	if _, keep := errors.AsType[*formats.Keep](err); bad || keep || err == nil || errors.Is(err, formats.ErrEnd) {
		return err
	}
	return p.explain(err)
}

// Begin implements Sender.
func (p sender) Begin(samples int, state []byte) error {
	answer := msgp.AppendInt(msgp.AppendArrayHeader(nil, 2), samples)
	if _, err := p.conn.Write(msgp.AppendBytes(answer, state)); err != nil {
		return p.explain(err)
	}
	return nil
}

// Kept implements Sender.
func (p sender) Kept(samples int) error { return p.Begin(samples, nil) }

// Close implements Sender.
func (p sender) Close() error { return p.close() }
