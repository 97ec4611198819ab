package atrest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Place is where a sample's record lies. Formats that find a record by its key alone
// leave it zero.
type Place struct {
	Shard  int   // index into Meta.Files
	Offset int64 // of the record's first byte
	Length int64 // of the whole record
}

// Row is one row of the manifest.
type Row struct {
	formats.Info
	Place Place
}

// Table holds the manifest's rows column by column. While a dataset is written the rows
// are in the order of writing; in one that was read they are in rank order. It is safe
// for concurrent reads; Append is for one goroutine.
type Table struct {
	columns []string // names of the user's columns

	key            stringColumn
	split, enc     wordColumn
	label          []int64
	shard          []int32
	offset, length []int64
	h, w, c        []int32
	size           []int64
	sum, hash      [][16]byte
	path           stringColumn
	srcSize, mod   []int64
	user           []stringColumn
}

// NewTable makes an empty table with the user's columns of those names.
func NewTable(columns []string) *Table {
	return &Table{columns: columns, user: make([]stringColumn, len(columns))}
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.label) }

// Append adds a row; it keeps nothing of r but strings' bytes.
func (t *Table) Append(r *Row) error {
	if len(r.Columns) != len(t.columns) {
		return fmt.Errorf("key %q: %w: %d user columns, the dataset has %d", r.Key, formats.ErrSchema, len(r.Columns), len(t.columns))
	}
	if err := t.fits(r); err != nil {
		return fmt.Errorf("key %q: %w: %w", r.Key, formats.ErrSchema, err)
	}
	t.key.append(r.Key)
	t.split.append(r.Split)
	t.enc.append(string(r.Encoding))
	t.label = append(t.label, r.Label)
	t.shard = append(t.shard, int32(r.Place.Shard))
	t.offset = append(t.offset, r.Place.Offset)
	t.length = append(t.length, r.Place.Length)
	t.h = append(t.h, int32(r.Shape[0]))
	t.w = append(t.w, int32(r.Shape[1]))
	t.c = append(t.c, int32(r.Shape[2]))
	t.size = append(t.size, r.Size)
	t.sum = append(t.sum, r.Sum)
	t.hash = append(t.hash, r.Source.Hash)
	t.path.append(r.Source.Path)
	t.srcSize = append(t.srcSize, r.Source.Size)
	t.mod = append(t.mod, r.Source.ModTime)
	for i, v := range r.Columns {
		t.user[i].append(v)
	}
	return nil
}

// fits says why the manifest cannot hold a row, so that a pack fails at once and not at its
// end.
func (t *Table) fits(r *Row) error {
	if len(r.Source.Path) > maxValue {
		return fmt.Errorf("a path of %d bytes, at most %d are possible", len(r.Source.Path), maxValue)
	}
	for i, v := range r.Columns {
		if len(v) > maxValue {
			return fmt.Errorf("the column %s has %d bytes, at most %d are possible", t.columns[i], len(v), maxValue)
		}
	}
	if len(t.split.words) > math.MaxUint16 && !slices.Contains(t.split.words, r.Split) {
		return fmt.Errorf("the split %q is one too many: at most %d are possible", r.Split, math.MaxUint16+1)
	}
	return nil
}

// Info is row i without its place. It allocates only for the user's columns.
func (t *Table) Info(i int) (formats.Info, error) {
	if err := t.inRange(i); err != nil {
		return formats.Info{}, err
	}
	in := formats.Info{
		Key: t.key.at(i), Split: t.split.at(i), Label: t.label[i], Size: t.size[i],
		Encoding: formats.Encoding(t.enc.at(i)), Shape: [3]int{int(t.h[i]), int(t.w[i]), int(t.c[i])}, Sum: t.sum[i],
		Source: formats.Source{Path: t.path.at(i), Size: t.srcSize[i], ModTime: t.mod[i], Hash: t.hash[i]},
	}
	if len(t.user) > 0 {
		in.Columns = make([]string, len(t.user))
		for j := range t.user {
			in.Columns[j] = t.user[j].at(i)
		}
	}
	return in, nil
}

func (t *Table) inRange(i int) error {
	if i < 0 || i >= t.Len() {
		return fmt.Errorf("sample %d of %d: index out of range", i, t.Len())
	}
	return nil
}

// Key is the key of row i. Of this and the other single columns i must be in range.
func (t *Table) Key(i int) string { return t.key.at(i) }

// Label is the designated label of row i.
func (t *Table) Label(i int) int64 { return t.label[i] }

// Place is where the record of row i lies.
func (t *Table) Place(i int) Place {
	return Place{Shard: int(t.shard[i]), Offset: t.offset[i], Length: t.length[i]}
}

// Shape is H, W, C of the designated image of row i, zero if unknown.
func (t *Table) Shape(i int) [3]int { return [3]int{int(t.h[i]), int(t.w[i]), int(t.c[i])} }

// Fill sets of s what the manifest knows of row i: key, split, sum, source, columns. The
// values are the format's business.
func (t *Table) Fill(i int, s *formats.Sample) {
	s.Key, s.Split, s.Sum = t.key.at(i), t.split.at(i), t.sum[i]
	s.Source = formats.Source{Path: t.path.at(i), Size: t.srcSize[i], ModTime: t.mod[i], Hash: t.hash[i]}
	s.Columns = s.Columns[:0]
	for j := range t.user {
		s.Columns = append(s.Columns, t.user[j].at(i))
	}
}

// Ranks gives the rows' order by key: Ranks()[rank] is the row. ErrKey if two rows have
// one key.
func (t *Table) Ranks() ([]int32, error) {
	ranks := make([]int32, t.Len())
	for i := range ranks {
		ranks[i] = int32(i)
	}
	byKey := func(a, b int32) int { return strings.Compare(t.key.at(int(a)), t.key.at(int(b))) }
	if !slices.IsSortedFunc(ranks, byKey) {
		slices.SortFunc(ranks, byKey)
	}
	for i := 1; i < len(ranks); i++ {
		if byKey(ranks[i-1], ranks[i]) == 0 {
			return nil, fmt.Errorf("%w: two samples have the key %q", formats.ErrKey, t.key.at(int(ranks[i])))
		}
	}
	return ranks, nil
}

// checkKeys reports the first key that CheckKey refuses or that is not larger than the one
// before.
func (t *Table) checkKeys() error {
	last := ""
	for i := range t.Len() {
		key := t.key.at(i)
		if err := formats.CheckKey(key); err != nil {
			return fmt.Errorf("row %d: %w: %w", i, formats.ErrDamaged, err)
		}
		if key <= last {
			return fmt.Errorf("row %d: %w: the key %q comes after %q", i, formats.ErrDamaged, key, last)
		}
		last = key
	}
	return nil
}

// checkPlaces reports the first record that does not lie in one of the files of those sizes.
func (t *Table) checkPlaces(sizes []int64) error {
	for i := range t.Len() {
		at := t.Place(i)
		if at.Shard < 0 || at.Shard >= len(sizes) {
			return fmt.Errorf("key %q: %w: it is in shard %d of %d", t.Key(i), formats.ErrDamaged, at.Shard, len(sizes))
		}
		if size := sizes[at.Shard]; at.Offset < 0 || at.Length < 0 || at.Offset > size || at.Length > size-at.Offset {
			return fmt.Errorf("key %q: %w: %d bytes at byte %d in a file of %d", t.Key(i), formats.ErrDamaged, at.Length, at.Offset, size)
		}
	}
	return nil
}

// Describe fills of m what the rows tell: count, splits, statistics. m's schema decides
// whether uniform images also have one element type.
func (t *Table) Describe(m *formats.Meta) {
	m.Count = t.Len()
	m.Splits = nil
	counts := map[string]int{}
	for i := range t.Len() {
		counts[t.split.at(i)]++
	}
	for name, n := range counts {
		if name != "" {
			m.Splits = append(m.Splits, formats.Split{Name: name, Count: n})
		}
	}
	slices.SortFunc(m.Splits, func(a, b formats.Split) int { return strings.Compare(a.Name, b.Name) })
	m.Stats = t.stats()
}

func (t *Table) stats() formats.Stats {
	s := formats.Stats{Uniform: t.Len() > 0}
	for i := range t.Len() {
		h, w := int(t.h[i]), int(t.w[i])
		s.Bytes += t.size[i]
		if i == 0 {
			s.MinHeight, s.MinWidth, s.MaxHeight, s.MaxWidth = h, w, h, w
		}
		s.MinHeight, s.MinWidth = min(s.MinHeight, h), min(s.MinWidth, w)
		s.MaxHeight, s.MaxWidth = max(s.MaxHeight, h), max(s.MaxWidth, w)
		s.Uniform = s.Uniform && t.Shape(i) == t.Shape(0) && t.enc.at(i) == t.enc.at(0) && h > 0
	}
	return s
}

// stringColumn keeps many strings in one piece of memory.
type stringColumn struct {
	data []byte
	end  []uint64
}

func (c *stringColumn) append(s string) {
	c.data = append(c.data, s...)
	c.end = append(c.end, uint64(len(c.data)))
}

func (c *stringColumn) at(i int) string {
	var from uint64
	if i > 0 {
		from = c.end[i-1]
	}
	return unsafeString(c.data[from:c.end[i]])
}

// wordColumn keeps strings of which there are few different ones.
type wordColumn struct {
	words []string
	index []uint16
}

func (c *wordColumn) append(s string) {
	// The last word is nearly always the one wanted: samples come class by class.
	if n := len(c.index); n > 0 && c.words[c.index[n-1]] == s {
		c.index = append(c.index, c.index[n-1])
		return
	}
	i := slices.Index(c.words, s)
	if i < 0 {
		i = len(c.words)
		c.words = append(c.words, strings.Clone(s))
	}
	c.index = append(c.index, uint16(i))
}

func (c *wordColumn) at(i int) string { return c.words[c.index[i]] }
