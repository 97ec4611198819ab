//go:build cgo

package main

/*
#include <stdint.h>
*/
import "C"

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unsafe"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

// loader is a reader.Loader behind a handle.
type loader struct {
	*reader.Loader
	datasets []formats.Dataset
	parts    []part // those that are described, then the views but the first

	described []part
	views     []viewPart

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

// openArguments are those of open: a loader's, of which some are texts or handles here.
type openArguments struct {
	Path    string        `json:"path"`
	Paths   []datasetPath `json:"paths"`   // instead of path: loaded one after the other, as torch's ConcatDataset
	Cache   string        `json:"cache"`   // as --cache of dsconv bench
	Decode  string        `json:"decode"`  // as --decode
	Weights int64         `json:"weights"` // a handle of dsconv_numbers: Config.Weights
	Samples int64         `json:"samples"` // a handle of dsconv_numbers: Config.Samples
	reader.Config
}

// datasetPath is one of several paths: a text, or an object that says which splits of it, and how a dataset
// of another program is read: as --map and --source-format.
type datasetPath struct {
	Path         string   `json:"path"`
	Splits       []string `json:"splits"`
	Map          string   `json:"map"`
	SourceFormat string   `json:"source_format"`
}

func (p *datasetPath) open() (formats.Dataset, error) {
	m, err := formats.ParseMap(p.Map)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errValue, err)
	}
	ds, err := dsconv.Formats().OpenWith(context.Background(), p.Path, formats.ReadOptions{Format: p.SourceFormat, Map: m})
	if errors.Is(err, formats.ErrSchema) || p.SourceFormat != "" && errors.Is(err, formats.ErrUnknownFormat) {
		err = fmt.Errorf("%w: %w", errValue, err)
	}
	return ds, err
}

// UnmarshalJSON reads "out.lmdb" or {"path": "out.lmdb", "splits": ["train"]}.
func (p *datasetPath) UnmarshalJSON(text []byte) error {
	if len(text) > 0 && text[0] == '"' {
		return json.Unmarshal(text, &p.Path)
	}
	type plain datasetPath // without this method
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode((*plain)(p))
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
	// Splits are those of the whole datasets, and how many samples each has.
	Splits  map[string]int  `json:"splits"`
	Columns []string        `json:"columns"` // of texts, which are no fields: see columnsOf
	Parts   []part          `json:"parts"`
	Views   []viewPart      `json:"views"`    // null without Config.Views
	Rest    []restPart      `json:"rest"`     // see rest.h
	GPU     *gpudecode.Info `json:"gpu"`      // that decodes; null on the CPU
	LeftOut []string        `json:"left_out"` // what is in folders of images and cannot be read, for a warning
	Config  reader.Config   `json:"config"`   // with the defaults filled in
}

// openLoader opens datasets and gives the handle of their loader.
func openLoader(a openArguments) (_ any, err error) {
	if err := a.resolve(); err != nil {
		return nil, err
	}
	l := &loader{runs: map[int64]*running{}}
	parts, err := l.openDatasets(a.Paths)
	if err == nil {
		err = l.open(parts, a.Config)
	}
	if err != nil {
		_ = l.close() // the first error is the one that counts
		return nil, err
	}
	handle, err := handles.add(l)
	if err != nil {
		return nil, errors.Join(err, l.end(0))
	}
	return opened{
		Loader: handle, Format: l.Meta().Format, Samples: l.Samples(), Batches: l.Len(), Repeats: l.Repeats(), Slots: l.Slots(), BlockSize: l.MemorySize(),
		Classes: l.Classes(), Splits: splitsOf(l.Meta()), Columns: append([]string{}, l.Meta().Columns...), Parts: l.described, Views: l.views, Rest: l.rest(), GPU: l.GPU(), Config: l.Config(),
		LeftOut: l.leftOut(),
	}, nil
}

// leftOut says how many files of each folder are no samples although they may be images, and names the first.
func (l *loader) leftOut() []string {
	texts := []string{}
	for _, ds := range l.datasets {
		if d, ok := ds.(*folder.Dataset); ok && len(d.Skips()) > 0 {
			first := d.Skips()[0]
			texts = append(texts, fmt.Sprintf("%s: %d file(s) or folder(s) are left out, such as %s: %s", d.Root(), len(d.Skips()), first.Path, first.Cause))
		}
	}
	return texts
}

// resolve sets those fields of the Config that have another form here, and Paths.
func (a *openArguments) resolve() (err error) {
	var mode codec.Mode
	if a.Config.Cache, err = reader.ParseCache(a.Cache); err == nil {
		err = mode.UnmarshalText([]byte(a.Decode))
	}
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errValue, err)
	case a.Path != "" && len(a.Paths) > 0:
		return fmt.Errorf("%w: path and paths: leave out one of them", errValue)
	case len(a.Paths) == 0:
		a.Paths = []datasetPath{{Path: a.Path}}
	}
	a.FastDecode = mode == codec.Fast
	if a.Config.Samples, err = numbersOf[int32](a.Samples, "samples"); err != nil {
		return err
	}
	a.Config.Weights, err = numbersOf[float64](a.Weights, "weights")
	return err
}

// openDatasets opens the datasets.
func (l *loader) openDatasets(paths []datasetPath) (parts []reader.Part, err error) {
	for _, p := range paths {
		ds, err := p.open()
		if err != nil {
			return nil, err
		}
		l.datasets = append(l.datasets, ds)
		parts = append(parts, reader.Part{Dataset: ds, Name: p.Path, Splits: p.Splits})
	}
	return parts, nil
}

// open makes the Loader of the datasets.
func (l *loader) open(parts []reader.Part, c reader.Config) (err error) {
	fields := c.Fields
	c.Fields = extraFields(l.datasets[0].Meta().Schema, fields)
	if l.Loader, err = reader.NewConcat(parts, c); err == nil {
		l.described = l.describe()
		l.parts, l.views = l.describeViews(l.described)
		err = checkFields(l.Meta(), fields)
	}
	if err != nil {
		err = fmt.Errorf("load %s: %w: %w", namesOf(parts), errValue, err)
	}
	return err
}

// namesOf is the paths of the first few parts.
func namesOf(parts []reader.Part) string {
	const most = 3
	var names []string
	for k, p := range parts {
		if k == most {
			names = append(names, fmt.Sprintf("%d more", len(parts)-most))
			break
		}
		names = append(names, p.Name)
	}
	return strings.Join(names, ", ")
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

// checkFields reports the first name that is neither a field nor a column of texts.
func checkFields(m *formats.Meta, names []string) error {
	for _, name := range names {
		if m.Schema.Index(name) >= 0 || slices.Contains(m.Columns, name) {
			continue
		}
		fields := []string{"image", "label", "index", "key"}
		for _, f := range m.Schema {
			if !slices.Contains(fields, f.Name) {
				fields = append(fields, f.Name)
			}
		}
		return fmt.Errorf("there is no field %q, there are %s", name, strings.Join(append(fields, m.Columns...), ", "))
	}
	return nil
}

// extraFields is those of the names that are fields which not every batch has. Python adds the columns.
func extraFields(schema formats.Schema, names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		k := schema.Index(name)
		return k < 0 || k == schema.ImageIndex() || k == schema.LabelIndex()
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
	return l.close()
}

// close closes the Loader and its datasets.
func (l *loader) close() error {
	errs := []error{l.Close()}
	for _, ds := range l.datasets {
		errs = append(errs, ds.Close())
	}
	return errors.Join(errs...)
}

// dsconv_labels writes the labels of the loader's samples in key order to dst, which has exactly size bytes:
// class indices, int64, -1 for a missing label; float32 and NaN where labels are numbers; or where they are
// multi-hot a row of uint8 with one for each class. It returns NULL, or an error as dsconv_call does.
//
//export dsconv_labels
func dsconv_labels(handle C.int64_t, dst unsafe.Pointer, size C.int64_t) *C.char {
	return succeeded(func() error {
		return withLoader(int64(handle), func(l *loader) error {
			data, err := l.allLabels()
			if err != nil {
				return err
			}
			if dst == nil || int64(size) != int64(len(data)) {
				return fmt.Errorf("%w: %d bytes at %t for labels of %d", errValue, int64(size), dst != nil, len(data))
			}
			copy(unsafe.Slice((*byte)(dst), len(data)), data)
			return nil
		})
	})
}

// allLabels are the bytes of all labels.
func (l *loader) allLabels() ([]byte, error) {
	if l.Frame().Label == formats.Float32 {
		numbers, err := l.Numbers(context.Background())
		return bytesOf(numbers), err
	}
	if l.Frame().Columns > 0 {
		return l.MultiHot(context.Background())
	}
	data, _, _, err := l.Labels()
	return data, err
}

// dsconv_order returns how many samples this rank takes from a position of an epoch on; -1 if there
// is no such loader. It writes the indices in the split of the first ones to dst and their positions to
// positions, as many as there is room for, unless one of them is NULL. Entry i of batch k is at k*batch+i,
// and the batches from batch k on are those from position+k*batch*world_size on. The index i of padding,
// which should not be counted, is written as -1-i.
//
//export dsconv_order
func dsconv_order(handle, epoch, position C.int64_t, dst *C.int32_t, positions *C.int64_t, room C.int64_t) C.int64_t {
	return counted(func() (n int, err error) {
		return n, withLoader(int64(handle), func(l *loader) error {
			if position < 0 {
				return fmt.Errorf("%w: position %d", errValue, int64(position))
			}
			if n = l.Entries(int(position)); dst == nil || positions == nil || room <= 0 {
				return nil
			}
			i, room := 0, min(n, int(room))
			to, at := unsafe.Slice((*int32)(dst), room), unsafe.Slice((*int64)(positions), room)
			for e := range l.Order(int(epoch), int(position)) {
				if i == room {
					break
				}
				to[i], at[i] = int32(e.Sample), int64(e.Position)
				if e.Padding {
					to[i] = -1 - to[i]
				}
				i++
			}
			return nil
		})
	})
}
