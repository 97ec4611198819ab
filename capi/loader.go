//go:build cgo

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/all"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// loader is a reader.Loader that C has opened.
type loader struct {
	*reader.Loader
	dataset formats.Dataset
	config  reader.Config
	parts   []part

	use  sync.RWMutex // held for writing by end alone
	gone bool
	mu   sync.Mutex         // for runs
	runs map[int64]*running // nil once no more may begin
}

// enter keeps the loader open until leave.
func enter(handle int64) (l *loader, leave func(), err error) {
	if l, err = of[*loader](handle); err != nil {
		return nil, nil, err
	}
	l.use.RLock()
	if l.gone {
		l.use.RUnlock()
		return nil, nil, fmt.Errorf("loader %d: %w", handle, errClosed)
	}
	return l, l.use.RUnlock, nil
}

// configuration is reader.Config in words.
type configuration struct {
	Path        string   `json:"path"`
	BatchSize   int      `json:"batch_size"`
	Workers     int      `json:"workers"`
	Prefetch    int      `json:"prefetch"`
	Order       string   `json:"order"`
	Seed        uint64   `json:"seed"`
	Tail        string   `json:"tail"`
	Rank        int      `json:"rank"`
	WorldSize   int      `json:"world_size"`
	Split       string   `json:"split"`
	Fields      []string `json:"fields"`
	LabelDType  string   `json:"label_dtype"`
	OnError     string   `json:"on_error"`
	Cache       string   `json:"cache"` // as --cache of dsconv bench
	Transforms  string   `json:"transforms"`
	DType       string   `json:"dtype"`
	Layout      string   `json:"layout"`
	Color       string   `json:"color"`
	Orientation bool     `json:"orientation"`
	Decode      string   `json:"decode"`
	AnySize     bool     `json:"any_size"`
	MaxPixels   int      `json:"max_pixels"`
}

// tails by name. "repeat" pads with samples that keep their labels.
var tails = map[string]order.Tail{
	"": order.Pad, "pad": order.Pad, "repeat": order.Pad, "drop": order.Drop, "uneven": order.Uneven,
}

// reader is the Config that c says.
func (c *configuration) reader() (r reader.Config, err error) {
	tail, ok := tails[c.Tail]
	if !ok {
		return r, fmt.Errorf("tail %q: wanted repeat, pad, drop or uneven", c.Tail)
	}
	r = reader.Config{
		BatchSize: c.BatchSize, Workers: c.Workers, Prefetch: c.Prefetch, Seed: c.Seed, Tail: tail,
		Rank: c.Rank, WorldSize: c.WorldSize, Split: c.Split,
		LabelDType: formats.DType(c.LabelDType), OnError: reader.OnError(c.OnError),
		DType: formats.DType(c.DType), Layout: augment.Layout(c.Layout), Color: pixel.Color(c.Color),
		ApplyOrientation: c.Orientation, AnySize: c.AnySize, MaxPixels: c.MaxPixels, LabelPadding: c.Tail == "repeat",
	}
	if r.Transforms, err = augment.Parse(c.Transforms); err != nil {
		return r, err
	}
	if r.FastDecode, err = preprocess.ParseDecode(cmp.Or(c.Decode, "exact")); err != nil {
		return r, err
	}
	if r.Cache, err = parseCache(c.Cache); err != nil {
		return r, err
	}
	r.Order, err = order.Parse(c.Order)
	return r, err
}

// parseCache reads "encoded" or "decoded:8GB"; "" is none.
func parseCache(text string) (c reader.Cache, err error) {
	kind, size, limited := strings.Cut(text, ":")
	c.Kind = reader.CacheKind(kind) // which the reader checks
	if limited {
		c.Limit, err = convert.ParseSize(size)
	}
	return c, err
}

// opened describes a loader.
type opened struct {
	Loader    int64    `json:"loader"`
	Samples   int      `json:"samples"`
	Batches   int      `json:"batches"`
	Repeats   bool     `json:"repeats"` // a sample may come more than once in an epoch
	Slots     int      `json:"slots"`
	BlockSize int      `json:"block_size"`
	Classes   []string `json:"classes"`
	// Splits are those of the whole dataset, and how many samples each has.
	Splits map[string]int `json:"splits"`
	Parts  []part         `json:"parts"`
}

func openLoader(c configuration) (any, error) {
	l := &loader{runs: map[int64]*running{}}
	var err error
	if l.config, err = c.reader(); err != nil {
		return nil, fmt.Errorf("%w: %w", errValue, err)
	}
	if l.dataset, err = all.Formats().Open(c.Path); err != nil {
		return nil, err
	}
	if err := checkFields(l.dataset.Meta(), c.Fields); err != nil {
		_ = l.dataset.Close() // the first error is the one that counts
		return nil, fmt.Errorf("load %s: %w: %w", c.Path, errValue, err)
	}
	l.config.Fields = further(l.dataset.Meta().Schema, c.Fields)
	if l.Loader, err = reader.New(l.dataset, l.config); err != nil {
		_ = l.dataset.Close() // the first error is the one that counts
		return nil, fmt.Errorf("load %s: %w: %w", c.Path, errValue, err)
	}
	l.parts = l.describe()
	handle, err := things.add(l)
	if err != nil {
		return nil, errors.Join(err, l.end(0))
	}
	return opened{
		Loader: handle, Samples: l.Samples(), Batches: l.Len(), Repeats: l.Repeats(), Slots: l.Slots(), BlockSize: l.MemorySize(),
		Classes: l.Classes(), Splits: splitsOf(l.dataset.Meta()), Parts: l.parts,
	}, nil
}

// splitsOf counts the samples of each split; those of none have the name "".
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

// checkFields reports the first name that is no field's. A column's name is a likely mistake.
func checkFields(m *formats.Meta, names []string) error {
	for _, name := range names {
		if m.Schema.Index(name) >= 0 {
			continue
		}
		known := []string{"image", "label", "index", "key"}
		for _, f := range m.Schema {
			if !slices.Contains(known, f.Name) {
				known = append(known, f.Name)
			}
		}
		hint := ""
		if slices.Contains(m.Columns, name) {
			hint = fmt.Sprintf("; %q is a column: loader.dataset.columns[%q] is a list of its texts, by the field index", name, name)
		}
		return fmt.Errorf("there is no field %q, there are %s%s", name, strings.Join(known, ", "), hint)
	}
	return nil
}

// further is fields without those that every batch has.
func further(schema formats.Schema, fields []string) []string {
	return slices.DeleteFunc(slices.Clone(fields), func(name string) bool {
		k := schema.Index(name)
		return k >= 0 && (k == schema.ImageIndex() || k == schema.LabelIndex())
	})
}

// closeLoader closes a loader and ends its runs.
func closeLoader(a struct {
	Loader int64 `json:"loader"`
},
) (any, error) {
	l, err := of[*loader](a.Loader)
	if err != nil {
		return nil, err
	}
	return nil, l.end(a.Loader)
}

// end closes the loader, once its runs and all who have entered it are done.
func (l *loader) end(handle int64) error {
	things.remove(handle)
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
