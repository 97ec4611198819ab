//go:build cgo

package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

// loader is a reader.Loader behind a handle.
type loader struct {
	*reader.Loader
	dataset formats.Dataset
	parts   []part

	use  sync.RWMutex // held for writing by end alone
	gone bool
	mu   sync.Mutex         // guards runs
	runs map[int64]*running // nil once none may start
}

// enter looks up a loader and keeps it open until leave is called.
func enter(handle int64) (l *loader, leave func(), err error) {
	if l, err = lookup[*loader](handle); err != nil {
		return nil, nil, err
	}
	l.use.RLock()
	if l.gone {
		l.use.RUnlock()
		return nil, nil, fmt.Errorf("loader %d: %w", handle, errClosed)
	}
	return l, l.use.RUnlock, nil
}

// withLoader calls f with the loader behind handle, which stays open meanwhile.
func withLoader(handle int64, f func(*loader) error) error {
	l, leave, err := enter(handle)
	if err != nil {
		return err
	}
	defer leave()
	return f(l)
}

// openArguments are those of open: a loader's, of which some are texts here.
type openArguments struct {
	Path   string `json:"path"`
	Cache  string `json:"cache"`  // as --cache of dsconv bench
	Decode string `json:"decode"` // as --decode
	reader.Config
}

// opened describes a loader.
type opened struct {
	Loader    int64    `json:"loader"`
	Format    string   `json:"format"` // the dataset's
	Samples   int      `json:"samples"`
	Batches   int      `json:"batches"`
	Repeats   bool     `json:"repeats"` // a sample may come more than once in an epoch
	Slots     int      `json:"slots"`
	BlockSize int      `json:"block_size"`
	Classes   []string `json:"classes"`
	// Splits are those of the whole dataset, and how many samples each has.
	Splits map[string]int `json:"splits"`
	Parts  []part         `json:"parts"`
	Config reader.Config  `json:"config"` // with the defaults filled in
}

// openLoader opens a dataset and gives the handle of its loader.
func openLoader(a openArguments) (_ any, err error) {
	if a.Config.Cache, err = reader.ParseCache(a.Cache); err != nil {
		return nil, fmt.Errorf("%w: %w", errValue, err)
	}
	var mode codec.Mode
	if err := mode.UnmarshalText([]byte(a.Decode)); err != nil {
		return nil, fmt.Errorf("%w: %w", errValue, err)
	}
	a.FastDecode = mode == codec.Fast
	l := &loader{runs: map[int64]*running{}}
	if l.dataset, err = dsconv.Formats().Open(a.Path); err != nil {
		return nil, err
	}
	if err := l.open(a.Config); err != nil {
		_ = l.dataset.Close() // the first error is the one that counts
		return nil, fmt.Errorf("load %s: %w: %w", a.Path, errValue, err)
	}
	handle, err := handles.add(l)
	if err != nil {
		return nil, errors.Join(err, l.end(0))
	}
	return opened{
		Loader: handle, Format: l.dataset.Meta().Format, Samples: l.Samples(), Batches: l.Len(), Repeats: l.Repeats(), Slots: l.Slots(), BlockSize: l.MemorySize(),
		Classes: l.Classes(), Splits: splitsOf(l.dataset.Meta()), Parts: l.parts, Config: l.Config(),
	}, nil
}

// open makes the Loader of the dataset.
func (l *loader) open(c reader.Config) (err error) {
	if err := checkFields(l.dataset.Meta(), c.Fields); err != nil {
		return err
	}
	c.Fields = extraFields(l.dataset.Meta().Schema, c.Fields)
	if l.Loader, err = reader.New(l.dataset, c); err == nil {
		l.parts = l.describe()
	}
	return err
}

// splitsOf counts the samples of each split; "" counts those in no split.
func splitsOf(m *formats.Meta) map[string]int {
	counts, left := map[string]int{}, m.Count
	for _, s := range m.Splits {
		counts[s.Name] = s.Count
		left -= s.Count
	}
	if left > 0 {
		counts[""] = left
	}
	return counts
}

// checkFields reports the first unknown field. The name of a column is a likely mistake.
func checkFields(m *formats.Meta, names []string) error {
	for _, name := range names {
		if m.Schema.Index(name) >= 0 {
			continue
		}
		fields := []string{"image", "label", "index", "key"}
		for _, f := range m.Schema {
			if !slices.Contains(fields, f.Name) {
				fields = append(fields, f.Name)
			}
		}
		hint := ""
		if slices.Contains(m.Columns, name) {
			hint = fmt.Sprintf("; %q is a column: loader.dataset.columns[%q] is a list of its texts, by the field index", name, name)
		}
		return fmt.Errorf("there is no field %q, there are %s%s", name, strings.Join(fields, ", "), hint)
	}
	return nil
}

// extraFields is fields without those that every batch has.
func extraFields(schema formats.Schema, fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(name string) bool {
		k := schema.Index(name)
		return k >= 0 && (k == schema.ImageIndex() || k == schema.LabelIndex())
	})
}

// closeLoader ends a loader's runs and closes it.
func closeLoader(a struct {
	Loader int64 `json:"loader"`
},
) (any, error) {
	l, err := lookup[*loader](a.Loader)
	if err != nil {
		return nil, err
	}
	return nil, l.end(a.Loader)
}

// end ends the runs, waits for all who have entered the loader, and closes it.
func (l *loader) end(handle int64) error {
	handles.remove(handle)
	l.endRuns()
	l.use.Lock()
	defer l.use.Unlock()
	if l.gone {
		return nil
	}
	l.gone = true
	if err := l.Close(); err != nil {
		_ = l.dataset.Close() // the first error is the one that counts
		return err
	}
	return l.dataset.Close()
}
