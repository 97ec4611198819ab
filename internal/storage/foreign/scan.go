package foreign

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// Scan takes the samples of a Source. It belongs to one goroutine.
type Scan struct {
	// Files are the mapped data files. Reading them can fail: see package guard. Those that are compressed as a
	// whole are read with Use.
	Files []*mapped.Mapping

	contents *contents
	current  int    // the compressed file in use, -1 for none
	unpacked []byte // its contents

	ctx     context.Context
	source  *Source
	sorter  *extsort.Sorter
	columns []Column
	number  map[string]int
	skips   []skip
	samples int
	bad     int // of SkipBad
	record  []byte
	key     []byte
}

// sortMemory is what sorting the samples may take; more are sorted on the disk.
const sortMemory = 64 << 20

// Column returns the number of the column with that name.
func (s *Scan) Column(name string) (int, error) {
	k, ok := s.number[name]
	if ok {
		return k, nil
	}
	if len(s.columns) == maxColumns {
		return 0, fmt.Errorf("%s: %w: its samples have more than %d kinds of values", s.source.Path, formats.ErrDamaged, maxColumns)
	}
	s.columns = append(s.columns, Column{Name: name})
	s.number[name] = len(s.columns) - 1
	return len(s.columns) - 1, nil
}

// Skip records something that is no sample, such as path, and why.
func (s *Scan) Skip(path, cause string) error {
	if len(s.skips) == maxSkips {
		return s.source.unreadable(s.skips, "more than %d of its samples cannot be read", maxSkips)
	}
	s.skips = append(s.skips, skip{Path: path, Cause: cause})
	return nil
}

// SkipBad records a sample that cannot be read, and why. If half of the samples are, the dataset is something else, and the
// scan is an error.
func (s *Scan) SkipBad(path string, cause error) error {
	s.bad++
	return s.Skip(path, cause.Error())
}

// Add adds a sample, or skips one whose key no dataset can have. It does not keep it.
func (s *Scan) Add(one *Sample) error {
	if s.samples%1024 == 0 && s.ctx.Err() != nil {
		return s.ctx.Err()
	}
	s.samples++
	if err := formats.CheckKey(one.Key); err != nil {
		return s.Skip(cmp.Or(one.Path, fmt.Sprintf("%q", one.Key)), err.Error())
	}
	file, err := s.fileOf(one.File)
	if err != nil {
		return fmt.Errorf("%s: sample %q: %w", s.source.Path, one.Key, err)
	}
	for _, v := range one.Values {
		if v.Column < 0 || v.Column >= len(s.columns) {
			return fmt.Errorf("%s: sample %q: there is no column %d", s.source.Path, one.Key, v.Column)
		}
		if err := s.look(file, &v); err != nil {
			return fmt.Errorf("%s: sample %q: %s: %w", s.source.Files[one.File].Path, one.Key, s.columns[v.Column].Name, err)
		}
	}
	return s.put(s.sorter, one)
}

func (s *Scan) put(sorter *extsort.Sorter, one *Sample) error {
	s.key = binary.BigEndian.AppendUint32(append(append(s.key[:0], one.Key...), 0), uint32(one.File))
	s.record = appendSample(s.record[:0], one)
	return sorter.Add(s.key, s.record)
}

// Use calls use with the bytes of file k, decompressed if it is compressed as a whole. They are valid until use
// returns.
func (s *Scan) Use(k int, use func(data []byte) error) error {
	if k < 0 || k >= len(s.Files) {
		return fmt.Errorf("%s: there is no file %d", s.source.Path, k)
	}
	if s.source.Files[k].Unpack == nil {
		return use(s.Files[k].Data)
	}
	return s.contents.use(s.ctx, k, func(data []byte) error {
		s.current, s.unpacked = k, data
		defer func() { s.current, s.unpacked = -1, nil }()
		return use(data)
	})
}

// fileOf returns the bytes of the file of a sample.
func (s *Scan) fileOf(k int) (mapped.Mapping, error) {
	switch {
	case k < 0 || k >= len(s.Files):
		return mapped.Mapping{}, fmt.Errorf("there is no file %d", k)
	case s.source.Files[k].Unpack == nil:
		return *s.Files[k], nil
	case k != s.current:
		return mapped.Mapping{}, fmt.Errorf("%s is compressed, and its samples were added outside of Use", s.source.Files[k].Path)
	}
	return mapped.Mapping{Data: s.unpacked}, nil
}

// look checks where a value is, and keeps the beginning of the first one of a column.
func (s *Scan) look(file mapped.Mapping, v *Value) error {
	raw, err := file.Slice(v.Offset, v.Length)
	if err != nil {
		return err
	}
	if c := &s.columns[v.Column]; c.first == nil && len(raw) > 0 {
		head := raw[:min(len(raw), firstBytes)]
		return guard.Read(head, func() error {
			c.first = append([]byte{}, head...)
			return nil
		})
	}
	return nil
}

// found are the samples of a scan, in the order of their keys.
type found struct {
	Found
	scan    *Scan
	sorter  *extsort.Sorter
	highest int64 // label
	skips   []skip
}

// scan finds the samples of s.
func (s *Source) scan(ctx context.Context, files []*mapped.Mapping, c *contents) (f *found, err error) {
	scan := &Scan{Files: files, contents: c, current: -1, ctx: ctx, source: s, sorter: extsort.New("", sortMemory), number: map[string]int{}}
	if err := guardFiles(files, func() error { return s.Scan(ctx, scan) }); err != nil {
		return nil, errors.Join(err, scan.sorter.Close())
	}
	if scan.bad > 0 && scan.bad >= scan.samples {
		return nil, errors.Join(scan.sorter.Close(), s.unreadable(scan.skips, "%d of its %d samples cannot be read", scan.bad, scan.bad+scan.samples))
	}
	f, err = scan.count(scan.sorter, false)
	if err == nil && f.repeated {
		f, err = scan.renamed(f)
	}
	if err != nil {
		return nil, err
	}
	if f.Samples == 0 {
		return nil, errors.Join(s.empty(scan), f.close())
	}
	f.skips = scan.skips
	return f, nil
}

// guardFiles calls read, whose result is an error if a page of the files could not be read, or it panics.
func guardFiles(files []*mapped.Mapping, read func() error) error {
	mark := guard.Now()
	err := guard.Do(read)
	for _, m := range files {
		err = guard.Since(mark, m.Data, err)
	}
	return err
}

// empty is the error of a dataset without samples.
func (s *Source) empty(scan *Scan) error {
	if len(scan.skips) > 0 {
		return s.unreadable(scan.skips, "none of its %d samples can be read", len(scan.skips))
	}
	return fmt.Errorf("%s: %w: it has no samples", s.Path, formats.ErrNotDataset)
}

// unreadable is the error about samples that are among skips.
func (s *Source) unreadable(skips []skip, format string, args ...any) error {
	return fmt.Errorf("%s: %w: %s; the first is %s: %s", s.Path, formats.ErrDamaged, fmt.Sprintf(format, args...), skips[0].Path, skips[0].Cause)
}

func (f *found) close() error { return f.sorter.Close() }

// count counts what the sorter has, which it closes if it fails. With unique a key of two samples is an error.
func (s *Scan) count(sorter *extsort.Sorter, unique bool) (*found, error) {
	f := &found{Found: Found{Classes: map[string]int{}, Columns: slices.Clone(s.columns)}, scan: s, sorter: sorter, highest: -1}
	first := -1 // the file of the first of two samples with one key
	err := f.each(func(one *Sample, repeated bool) error {
		if f.Samples%1024 == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		if f.repeated = f.repeated || repeated; repeated && unique {
			if first >= 0 {
				return fmt.Errorf("%s: %w: two samples have the key %q, in %s and %s: give one of them another name", s.source.Path, formats.ErrKey, one.Key,
					s.source.Files[first].Path, s.source.Files[one.File].Path)
			}
			first = one.File
		}
		return f.add(one)
	})
	if err != nil {
		return nil, errors.Join(err, f.close())
	}
	return f, nil
}

// each calls yield with each sample, valid until yield returns; repeated: another one has the same key.
func (f *found) each(yield func(one *Sample, repeated bool) error) error {
	last, one, have, repeated := new(Sample), new(Sample), false, false
	err := f.sorter.Each(func(_, record []byte) error {
		if err := takeSample(record, one); err != nil {
			return err
		}
		same := have && one.Key == last.Key
		if same && one.File == last.File && one.Unique == "" {
			return f.scan.merge(last, one)
		}
		if have {
			if err := yield(last, repeated || same); err != nil {
				return err
			}
		}
		last, one, have, repeated = one, last, true, same
		return nil
	})
	if err == nil && have {
		err = yield(last, repeated)
	}
	return err
}

// merge adds what one has to the sample of the same key and file.
func (s *Scan) merge(to, one *Sample) error {
	for _, v := range one.Values {
		for _, w := range to.Values {
			if v.Column == w.Column {
				return fmt.Errorf("%s: %w: the sample %q has two values of %s, at the bytes %d and %d: two samples have one key: "+
					"write them again under different names",
					s.source.Files[one.File].Path, formats.ErrKey, one.Key, s.columns[v.Column].Name, w.Offset, v.Offset)
			}
		}
	}
	to.Values = append(to.Values, one.Values...)
	to.Class, to.Split = cmp.Or(to.Class, one.Class), cmp.Or(to.Split, one.Split)
	if to.Label == formats.NoLabel {
		to.Label = one.Label
	}
	return nil
}

// addTensor keeps what t and the arrays so far have in common.
func (c *Column) addTensor(t *Tensor) {
	if c.Tensors++; c.Tensors == 1 {
		c.DType, c.Shape = t.DType, slices.Clone(t.Shape)
		return
	}
	if c.DType != t.DType {
		c.DType = ""
	}
	if len(c.Shape) != len(t.Shape) {
		c.Shape = nil
		return
	}
	for i, n := range t.Shape {
		if c.Shape[i] != n {
			c.Shape[i] = -1
		}
	}
}

// add counts a sample.
func (f *found) add(one *Sample) error {
	f.Samples++
	for _, v := range one.Values {
		f.Columns[v.Column].Count++
		if v.Encoding != "" {
			f.Columns[v.Column].Encoded++
		}
		if v.Tensor != nil {
			f.Columns[v.Column].addTensor(v.Tensor)
		}
	}
	if one.Class != "" {
		f.Classed++
		if f.Classes[one.Class]++; len(f.Classes) > formats.MaxClasses {
			return fmt.Errorf("%w: there are more than %d classes: name another field for the label by a map", formats.ErrSchema, formats.MaxClasses)
		}
	}
	if one.Label >= 0 {
		f.highest = max(f.highest, one.Label)
	}
	return nil
}

// renamed sorts the samples again, with keys that are not repeated: those that have a unique one take it where the key
// is repeated, all others get the name of their file before it.
func (s *Scan) renamed(f *found) (again *found, err error) {
	sorter := extsort.New("", sortMemory)
	err = f.each(func(one *Sample, repeated bool) error {
		s.rename(one, repeated)
		if err := formats.CheckKey(one.Key); err != nil {
			return s.Skip(cmp.Or(one.Path, one.Key), err.Error())
		}
		return s.put(sorter, one)
	})
	if err = errors.Join(err, f.close()); err != nil {
		return nil, errors.Join(err, sorter.Close())
	}
	return s.count(sorter, true)
}

// rename gives a sample its new key.
func (s *Scan) rename(one *Sample, repeated bool) {
	switch stem := s.source.Files[one.File].Stem + "/"; {
	case one.Unique != "":
		if repeated {
			one.Key, one.Path = one.Unique, ""
		}
	default:
		if one.Key = stem + one.Key; one.Path != "" {
			one.Path = stem + one.Path
		}
	}
}
