package bench

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// memory is a Dataset of small raw images that records in a log when it is read.
type memory struct {
	name   string
	n      int
	meta   formats.Meta
	log    *log
	opened bool
	closed bool
	fail   error // of every Read
}

// log is the names of the datasets in the order in which they were read.
type log struct {
	mu    sync.Mutex
	names []string
}

func (l *log) add(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n := len(l.names); n == 0 || l.names[n-1] != name {
		l.names = append(l.names, name)
	}
}

func newMemory(name string, n int, l *log) *memory {
	return &memory{name: name, n: n, log: l, meta: formats.Meta{
		Format: "folder",
		Schema: formats.Schema{
			{Name: "image", Kind: formats.Image},
			{Name: "label", Kind: formats.Label, Classes: []string{"cat", "dog"}},
		},
		Splits: []formats.Split{{Name: "train", Count: n - n/4}, {Name: "val", Count: n / 4}},
	}}
}

func (m *memory) Meta() *formats.Meta { return &m.meta }
func (m *memory) Len() int            { return m.n }

func (m *memory) Info(i int) (formats.Info, error) {
	split := "train"
	if i < m.n/4 {
		split = "val"
	}
	return formats.Info{Key: fmt.Sprintf("%04d", i), Split: split, Label: int64(i % 2), Size: 100}, nil
}

func (m *memory) Read(i int, s *formats.Sample) error {
	m.log.add(m.name)
	if m.fail != nil {
		return m.fail
	}
	s.Key = fmt.Sprintf("%04d", i)
	s.Resize(2)
	s.Values[0].Set(formats.Value{Data: make([]byte, 12*10*3), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{12, 10, 3}})
	s.Values[1].SetInt64(int64(i % 2))
	return nil
}

func (m *memory) Close() error {
	m.closed = true
	return nil
}

// opener opens the datasets by their names.
func opener(t *testing.T, datasets ...*memory) (paths []string, open openFunc) {
	t.Helper()
	t.Cleanup(func() {
		for _, m := range datasets {
			if m.opened && !m.closed {
				t.Errorf("%s was not closed", m.name)
			}
		}
	})
	for _, m := range datasets {
		paths = append(paths, m.name)
	}
	return paths, func(_ context.Context, path string) (formats.Dataset, error) {
		for _, m := range datasets {
			if m.name == path {
				m.opened = true
				return m, nil
			}
		}
		return nil, formats.ErrNotDataset
	}
}
