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
	// Next sets s to the next sample. Errors are formats.ErrEnd, formats.ErrKeep, and such as a Dataset's Read has.
	Next(s *formats.Sample) error
	// Kept is called after ErrKeep, before the next Next, and if Header.Resumes before the first one.
	Kept(written int) error
	// Close ends a call of Next.
	Close() error
}

// Stream is a dataset of unknown length, whose samples a Sender gives.
type Stream struct {
	header *Header
	meta   *formats.Meta
	from   Sender

	mu      sync.Mutex
	changed sync.Cond
	next    int // the index of the next sample
	closed  bool
	reading sync.WaitGroup
}

var (
	_ formats.Dataset = (*Stream)(nil)
	_ formats.Growing = (*Stream)(nil)
)

// NewStream returns the dataset of a Sender, which it closes.
func NewStream(h *Header, from Sender) *Stream {
	d := &Stream{header: h, meta: h.meta(), from: from}
	d.changed.L = &d.mu
	return d
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

// Read implements formats.Dataset. A Read of a later sample waits until it is its turn: after ErrKeep the same one is read again.
func (d *Stream) Read(i int, s *formats.Sample) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reading.Add(1)
	defer d.reading.Done()
	for d.next != i && !d.closed {
		d.changed.Wait()
	}
	if d.closed {
		return fmt.Errorf("the samples of a program: %w", formats.ErrClosed)
	}
	err := d.from.Next(s)
	if errors.Is(err, formats.ErrKeep) {
		return err
	}
	d.next++
	d.changed.Broadcast()
	if err != nil {
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
func (d *Stream) Begin(i, _ int) error {
	d.mu.Lock()
	d.next = i
	d.mu.Unlock()
	if !d.header.Resumes {
		return nil
	}
	return d.from.Kept(i) // with those that were skipped
}

// Kept implements formats.Growing.
func (d *Stream) Kept(written int) error { return d.from.Kept(written) }

// Close implements formats.Dataset.
func (d *Stream) Close() error {
	err := d.from.Close() // ends the Read that holds mu
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	d.mu.Unlock()
	d.changed.Broadcast()
	d.reading.Wait()
	return err
}

// sender is a process that sends samples until there are none.
type sender struct{ *process }

// Next implements Sender.
func (p sender) Next(s *formats.Sample) error {
	if p.failed != nil {
		return p.failed
	}
	err := p.read(s)
	if _, ok := errors.AsType[sampleError](err); ok || err == nil || errors.Is(err, formats.ErrKeep) {
		return err
	}
	if errors.Is(err, formats.ErrEnd) {
		p.failed = err // there is nothing after it
		return err
	}
	return p.fail(err)
}

// Kept implements Sender.
func (p sender) Kept(written int) error {
	_, err := p.conn.Write(msgp.AppendInt(nil, written))
	return err
}

// Close implements Sender.
func (p sender) Close() error { return p.close() }
