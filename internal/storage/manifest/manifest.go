package manifest

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Location and Row are those of the index.
type (
	Location = sampleindex.Location
	Row      = sampleindex.Row
)

// Manifest holds the manifest's rows, each contiguous in memory, so that a read touches two
// cache lines of it. While a dataset is written, the rows are in the order of writing; after
// NewDescription they are in key order. It is safe for concurrent reads; Append is for one
// goroutine.
type Manifest struct {
	Columns       []string // names of the user's columns
	hasProvenance bool     // rows may have Provenance, which the journal then records

	rows        rows
	keys, paths []byte // of all rows
	splits      dictionary
	encodings   dictionary
	user        []stringColumn
}

// NewManifest returns an empty manifest with user columns of those names.
func NewManifest(columns []string) *Manifest {
	return &Manifest{Columns: columns, user: make([]stringColumn, len(columns))}
}

// NewManifestFor returns an empty manifest for the dataset that m describes.
func NewManifestFor(m *formats.Meta) *Manifest {
	t := NewManifest(m.Columns)
	t.hasProvenance = m.History != nil
	return t
}

// Len returns the number of rows.
func (t *Manifest) Len() int { return t.rows.n }

// Append adds a row; it copies r.
func (t *Manifest) Append(r *Row) error {
	if err := CheckRow(r, t.Columns); err != nil {
		return err
	}
	if len(t.splits) > math.MaxUint16 && !slices.Contains(t.splits, r.Split) {
		return fmt.Errorf("key %q: %w: the split %q is one too many: the limit is %d splits", r.Key, formats.ErrSchema, r.Split, math.MaxUint16+1)
	}
	last := t.rows.last()
	*t.rows.add() = row{
		keyAt: uint64(len(t.keys)), keyLen: uint32(len(r.Key)), pathAt: uint64(len(t.paths)), pathLen: uint32(len(r.Source.Path)),
		split: t.splits.index(r.Split, last.split), encoding: t.encodings.index(string(r.Encoding), last.encoding),
		label: r.Label, size: r.Size, shard: int32(r.Location.Shard), offset: r.Location.Offset, length: r.Location.Length,
		shape:    [3]int32{int32(r.Shape[0]), int32(r.Shape[1]), int32(r.Shape[2])},
		checksum: r.Checksum, hash: r.Source.Hash, srcSize: r.Source.Size, mod: r.Source.ModTime, provenance: r.Provenance,
	}
	t.keys, t.paths = append(t.keys, r.Key...), append(t.paths, r.Source.Path...)
	for i, v := range r.Columns {
		t.user[i].append(v)
	}
	return nil
}

// Info returns row i without its location. It allocates only for the user's columns.
func (t *Manifest) Info(i int) (formats.Info, error) {
	if err := t.CheckIndex(i); err != nil {
		return formats.Info{}, err
	}
	r := t.rows.at(i)
	in := formats.Info{
		Key: t.key(r), Split: t.splits[r.split], Label: r.label, Size: r.size, Encoding: formats.Encoding(t.encodings[r.encoding]),
		Shape: r.dims(), Checksum: r.checksum, Source: t.source(r), Provenance: r.provenance,
	}
	if len(t.user) > 0 {
		in.Columns = make([]string, len(t.user))
		for j := range t.user {
			in.Columns[j] = t.user[j].at(i)
		}
	}
	return in, nil
}

func (t *Manifest) rowAt(i int) Row {
	in, _ := t.Info(i)
	return Row{Info: in, Location: t.Location(i)}
}

// WriteParquet writes the rows in the given order (see KeyOrder) as manifest.parquet.
func (t *Manifest) WriteParquet(w io.Writer, ranks []int32) error {
	m := NewWriter(w, t.Columns, t.history() != nil)
	for _, i := range ranks {
		r := t.rowAt(int(i))
		if err := m.Append(&r); err != nil {
			return err
		}
	}
	return m.Close()
}

// CheckIndex returns an error if i is not the index of a sample.
func (t *Manifest) CheckIndex(i int) error {
	if i < 0 || i >= t.Len() {
		return fmt.Errorf("index %d out of range: the dataset has %d samples", i, t.Len())
	}
	return nil
}

func (t *Manifest) key(r *row) string {
	return unsafeString(t.keys[r.keyAt : r.keyAt+uint64(r.keyLen)])
}

func (t *Manifest) path(r *row) string {
	return unsafeString(t.paths[r.pathAt : r.pathAt+uint64(r.pathLen)])
}

func (t *Manifest) source(r *row) formats.Source {
	return formats.Source{Path: t.path(r), Size: r.srcSize, ModTime: r.mod, Hash: r.hash}
}

// Key returns the key of row i. For this and the other single columns, i must be in range.
func (t *Manifest) Key(i int) string { return t.key(t.rows.at(i)) }

// Label returns the designated label of row i.
func (t *Manifest) Label(i int) int64 { return t.rows.at(i).label }

// Location returns the location of the record of row i.
func (t *Manifest) Location(i int) Location {
	r := t.rows.at(i)
	return Location{Shard: int(r.shard), Offset: r.offset, Length: r.length}
}

// Shape returns H, W, C of the designated image of row i, zero if unknown.
func (t *Manifest) Shape(i int) [3]int { return t.rows.at(i).dims() }

// Fill sets the fields of s that the manifest has for row i: key, split, checksum, source,
// columns, provenance. The format fills the values.
func (t *Manifest) Fill(i int, s *formats.Sample) {
	r := t.rows.at(i)
	s.Key, s.Split, s.Checksum, s.Source, s.Provenance = t.key(r), t.splits[r.split], r.checksum, t.source(r), r.provenance
	s.SetColumns()
	for j := range t.user {
		s.Columns = append(s.Columns, t.user[j].at(i))
	}
	s.SetColumns(s.Columns...)
}

// KeyOrder returns the rows' numbers in the order of their keys. ErrKey if two rows have the
// same key.
func (t *Manifest) KeyOrder() ([]int32, error) {
	order := make([]int32, t.Len())
	for i := range order {
		order[i] = int32(i)
	}
	byKey := func(a, b int32) int { return strings.Compare(t.Key(int(a)), t.Key(int(b))) }
	if !slices.IsSortedFunc(order, byKey) {
		slices.SortFunc(order, byKey)
	}
	for i := 1; i < len(order); i++ {
		if byKey(order[i-1], order[i]) == 0 {
			return nil, fmt.Errorf("%w: two samples have the key %q", formats.ErrKey, t.Key(int(order[i])))
		}
	}
	return order, nil
}

// inParallel runs check on all cores, each with a range of rows that excludes to. It returns the
// error of the first range that has one.
func (t *Manifest) inParallel(check func(from, to int) error) error {
	errs := make([]error, runtime.GOMAXPROCS(0))
	var ranges sync.WaitGroup
	for k := range errs {
		ranges.Go(func() {
			errs[k] = guard.Do(func() error { return check(k*t.Len()/len(errs), (k+1)*t.Len()/len(errs)) })
		})
	}
	ranges.Wait()
	return cmp.Or(errs...)
}

// CheckLocations reports the first record that does not lie within a file of those sizes.
func (t *Manifest) CheckLocations(sizes []int64) error {
	return t.inParallel(func(from, to int) error {
		for i := from; i < to; i++ {
			at := t.Location(i)
			if at.Shard < 0 || at.Shard >= len(sizes) {
				return fmt.Errorf("key %q: %w: its record is in shard %d, but there are %d shards", t.Key(i), formats.ErrDamaged, at.Shard, len(sizes))
			}
			if size := sizes[at.Shard]; at.Offset < 0 || at.Length < 0 || at.Offset > size || at.Length > size-at.Offset {
				return fmt.Errorf("key %q: %w: its record has %d bytes at byte %d, but the file has %d bytes", t.Key(i), formats.ErrDamaged, at.Length, at.Offset, size)
			}
		}
		return nil
	})
}

// Describe sets the fields of m that follow from the rows: count, splits, statistics, edits. Only
// the schema of m tells whether uniform images also have one element type.
func (t *Manifest) Describe(m *formats.Meta) {
	m.Count = t.Len()
	m.Splits = nil
	counts := map[string]int{}
	for i := range t.Len() {
		counts[t.splits[t.rows.at(i).split]]++
	}
	for name, n := range counts {
		if name != "" {
			m.Splits = append(m.Splits, formats.Split{Name: name, Count: n})
		}
	}
	slices.SortFunc(m.Splits, func(a, b formats.Split) int { return strings.Compare(a.Name, b.Name) })
	m.Stats = t.stats()
	m.History = t.history()
}

// history counts the rows with Provenance; nil if there are none.
func (t *Manifest) history() *formats.History {
	var h formats.History
	for i := range t.Len() {
		p := t.rows.at(i).provenance
		if p.Edited != 0 {
			h.Edited++
		}
		h.Origins = max(h.Origins, int(p.Origin))
	}
	if h == (formats.History{}) {
		return nil
	}
	return &h
}

func (t *Manifest) stats() formats.Stats {
	s := formats.Stats{Uniform: t.Len() > 0}
	for i := range t.Len() {
		r := t.rows.at(i)
		h, w := int(r.shape[0]), int(r.shape[1])
		s.Bytes += r.size
		if i == 0 {
			s.MinHeight, s.MinWidth, s.MaxHeight, s.MaxWidth = h, w, h, w
		}
		s.MinHeight, s.MinWidth = min(s.MinHeight, h), min(s.MinWidth, w)
		s.MaxHeight, s.MaxWidth = max(s.MaxHeight, h), max(s.MaxWidth, w)
		s.Uniform = s.Uniform && r.shape == t.rows.at(0).shape && r.encoding == t.rows.at(0).encoding && h > 0
	}
	return s
}
