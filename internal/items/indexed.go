package items

import (
	"errors"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
)

// Indexed is a dataset whose samples processes read by their index, each some of them.
type Indexed struct {
	header    *Header
	meta      *formats.Meta
	mu        sync.Mutex
	closed    bool
	reading   sync.WaitGroup
	processes []*process
}

var (
	_ formats.Dataset   = (*Indexed)(nil)
	_ formats.Unlabeled = (*Indexed)(nil)
)

// OpenIndexed takes over the file descriptors of the processes' sockets.
func OpenIndexed(h *Header, fds []uintptr) (*Indexed, error) {
	d := &Indexed{header: h, meta: h.begin()}
	for _, fd := range fds {
		p, err := newProcess(fd, h)
		if err != nil {
			return nil, errors.Join(err, d.Close())
		}
		d.processes = append(d.processes, p)
	}
	if len(fds) == 0 {
		return nil, errors.New("no process sends samples")
	}
	return d, nil
}

// Meta implements formats.Dataset.
func (d *Indexed) Meta() *formats.Meta { return d.meta }

// Len implements formats.Dataset.
func (d *Indexed) Len() int { return d.header.Length }

// Unlabeled implements formats.Unlabeled.
func (d *Indexed) Unlabeled() {}

// Info implements formats.Dataset.
func (d *Indexed) Info(i int) (formats.Info, error) {
	if i < 0 || i >= d.header.Length {
		return formats.Info{}, fmt.Errorf("sample %d of %d: there is none", i, d.header.Length)
	}
	return d.header.info(i), nil
}

// Read implements formats.Dataset.
func (d *Indexed) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	p, err := d.begin()
	if err != nil {
		return err
	}
	defer d.end(p)
	if err := p.request(i, s); err != nil {
		return fmt.Errorf("item %d: %w", i, err)
	}
	s.Key, s.Split = in.Key, in.Split
	return nil
}

// begin returns the process that has the least to do.
func (d *Indexed) begin() (*process, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil, fmt.Errorf("the samples of a program: %w", formats.ErrClosed)
	}
	least := d.processes[0]
	for _, p := range d.processes {
		if p.pending < least.pending {
			least = p
		}
	}
	least.pending++
	d.reading.Add(1)
	return least, nil
}

func (d *Indexed) end(p *process) {
	d.mu.Lock()
	p.pending--
	d.mu.Unlock()
	d.reading.Done()
}

// Close implements formats.Dataset. Calls of Read that wait for a process end.
func (d *Indexed) Close() error {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	var err error
	for _, p := range d.processes {
		err = errors.Join(err, p.close())
	}
	d.reading.Wait()
	return err
}
