package slowed

import (
	"io"
	"time"

	"github.com/dsconv/dsconv/formats"
)

// Config says by how much the stages of each image are delayed. The zero value delays nothing.
type Config struct {
	Read, Decode, Augment, Collate time.Duration
	BytesPerSecond                 int64 // of all readers together; 0 is no limit
}

// Wrap returns ds with reads and, in a reader.Loader, the other stages delayed. It lends memory if ds does. Closing it closes
// ds. No delay lasts longer than until done is closed.
func Wrap(ds formats.Dataset, c Config, done <-chan struct{}) formats.Dataset {
	if c == (Config{}) {
		return ds
	}
	d := &dataset{Dataset: ds, done: done, read: NewPause(c.Read), bandwidth: newBandwidth(c.BytesPerSecond), stages: map[string]*Pause{
		"decode": NewPause(c.Decode), "augment": NewPause(c.Augment), "collate": NewPause(c.Collate),
	}}
	if v, ok := ds.(formats.Viewer); ok {
		return &viewer{dataset: d, of: v}
	}
	return d
}

// dataset delays those that copy.
type dataset struct {
	formats.Dataset
	done      <-chan struct{} // ends all waiting
	read      *Pause
	bandwidth *bandwidth
	stages    map[string]*Pause
}

var (
	_ formats.Prefetcher = (*dataset)(nil)
	_ formats.Identifier = (*dataset)(nil)
	_ formats.Viewer     = (*viewer)(nil)
)

// Read implements formats.Dataset.
func (d *dataset) Read(i int, s *formats.Sample) error {
	err := d.Dataset.Read(i, s)
	d.delay(s, err)
	return err
}

func (d *dataset) delay(s *formats.Sample, err error) {
	if err != nil {
		return
	}
	d.read.Wait(d.done, 1)
	if d.bandwidth == nil {
		return
	}
	var n int64
	for k := range s.Values {
		n += int64(len(s.Values[k].Data))
	}
	d.bandwidth.wait(d.done, n)
}

// Delay waits as long as a stage of an image is delayed: "decode", "augment" or "collate".
func (d *dataset) Delay(stage string) { d.stages[stage].Wait(d.done, 1) }

// Prefetch implements formats.Prefetcher.
func (d *dataset) Prefetch(indices []int32) {
	if p, ok := d.Dataset.(formats.Prefetcher); ok {
		p.Prefetch(indices)
	}
}

// Identify implements formats.Identifier.
func (d *dataset) Identify(w io.Writer) error {
	if i, ok := d.Dataset.(formats.Identifier); ok {
		return i.Identify(w)
	}
	return nil
}

// viewer delays those that lend their memory.
type viewer struct {
	*dataset
	of formats.Viewer
}

// View implements formats.Viewer.
func (d *viewer) View(i int, s *formats.Sample) error {
	err := d.of.View(i, s)
	d.delay(s, err)
	return err
}

// Lease implements formats.Viewer.
func (d *viewer) Lease() (release func(), err error) { return d.of.Lease() }
