package sampleindex

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Profile is what the layout of an index depends on: the ranges of numbers, the different splits, and so
// on, of all rows. It takes the rows in any order and keeps none.
type Profile struct {
	n              int
	columns        []string
	fields         int
	low, high      []int64 // of each number, see numbers
	splits         map[string]int
	encodings      map[string]int
	suffixes       map[string]int // nil once there are too many
	bytes          int64          // of the images
	keys           int64          // bytes
	paths, oddPath int64          // bytes of all paths, and of those that are not a key and a suffix
	texts          []int64        // bytes of each user column
	hasChecksum    bool
	otherHash      bool // a hash that is not the checksum
	hasHash        bool
	edited         int // rows
	scratch        []int64
}

// NewProfile returns the Profile of no rows. columns are the names of the user's columns; fields is the
// number of locations in Row.Fields.
func NewProfile(columns []string, fields int) *Profile {
	numbers := fixedNumbers + 2*fields + len(columns)
	return &Profile{
		columns: columns, fields: fields, low: make([]int64, numbers), high: make([]int64, numbers),
		splits: map[string]int{}, encodings: map[string]int{}, suffixes: map[string]int{},
		texts: make([]int64, len(columns)), scratch: make([]int64, numbers),
	}
}

// Len returns the number of rows.
func (p *Profile) Len() int { return p.n }

// MaxLabel returns the largest class index, formats.NoLabel without rows.
func (p *Profile) MaxLabel() int64 {
	if p.n == 0 {
		return formats.NoLabel
	}
	return p.high[numberLabel]
}

// Add adds a row.
func (p *Profile) Add(r *Row) {
	appendNumbers(p.scratch, r)
	for k, x := range p.scratch {
		if p.n == 0 {
			p.low[k], p.high[k] = x, x
		}
		p.low[k], p.high[k] = min(p.low[k], x), max(p.high[k], x)
	}
	p.n++
	countName(p.splits, r.Split)
	countName(p.encodings, string(r.Encoding))
	p.bytes += r.Size
	p.keys += int64(len(r.Key))
	p.paths += int64(len(r.Source.Path))
	if suffix, ok := suffixOf(r); !ok {
		p.oddPath += int64(len(r.Source.Path))
	} else if p.suffixes != nil {
		if countName(p.suffixes, suffix); len(p.suffixes) > maxSuffixes {
			p.suffixes = nil
		}
	}
	for k, s := range r.Columns {
		p.texts[k] += int64(len(s))
	}
	p.hasChecksum = p.hasChecksum || r.Checksum != [16]byte{}
	p.hasHash = p.hasHash || r.Source.Hash != [16]byte{}
	p.otherHash = p.otherHash || r.Source.Hash != r.Checksum
	if r.Provenance.Edited != 0 {
		p.edited++
	}
}

// countName counts a name; it keeps a copy, since rows may be views of memory that is used again.
func countName(counts map[string]int, name string) {
	n, ok := counts[name]
	if !ok {
		name = strings.Clone(name)
	}
	counts[name] = n + 1
}

const (
	maxSuffixes = 255
	suffixBytes = 8 // the longest suffix
)

// suffixOf returns what the path of the source has after the key, if it is short.
func suffixOf(r *Row) (suffix string, ok bool) {
	suffix, ok = strings.CutPrefix(r.Source.Path, r.Key)
	return suffix, ok && len(suffix) <= suffixBytes
}

// appendNumbers sets x to the numbers of r that do not depend on other rows; the others are 0.
func appendNumbers(x []int64, r *Row) {
	x[numberLabel] = r.Label
	x[numberHeight], x[numberWidth], x[numberChannels] = int64(r.Shape[0]), int64(r.Shape[1]), int64(r.Shape[2])
	x[numberSize], x[numberSourceSize] = r.Size, r.Source.Size-r.Size
	x[numberShard], x[numberOffset], x[numberLength] = int64(r.Location.Shard), r.Location.Offset, r.Location.Length-r.Size
	x[numberModTime] = r.Source.ModTime
	x[numberEdited], x[numberOrigin] = int64(r.Provenance.Edited), int64(r.Provenance.Origin)
	for k, at := range r.Fields {
		x[fixedNumbers+2*k], x[fixedNumbers+2*k+1] = at.Offset, at.Length
	}
}

// CheckLimits reports why no index can have r besides the rows so far, so that a pack fails at once and
// not at its end.
func (p *Profile) CheckLimits(r *Row) error {
	if err := r.CheckTexts(p.columns); err != nil {
		return err
	}
	if p.n == math.MaxInt32 {
		return fmt.Errorf("%w: a dataset has at most %d samples", formats.ErrSchema, math.MaxInt32)
	}
	if len(p.splits) > math.MaxUint16 && p.splits[r.Split] == 0 {
		return fmt.Errorf("%w: the split %q is one too many: the limit is %d splits", formats.ErrSchema, r.Split, math.MaxUint16+1)
	}
	return nil
}

// Describe sets the fields of m that follow from the rows: count, splits, statistics, edits.
func (p *Profile) Describe(m *formats.Meta) {
	m.Count, m.Splits, m.History = p.n, nil, nil
	for name, n := range p.splits {
		if name != "" {
			m.Splits = append(m.Splits, formats.Split{Name: name, Count: n})
		}
	}
	slices.SortFunc(m.Splits, func(a, b formats.Split) int { return strings.Compare(a.Name, b.Name) })
	m.Stats = formats.Stats{
		Bytes:     p.bytes,
		MinHeight: int(p.low[numberHeight]), MinWidth: int(p.low[numberWidth]),
		MaxHeight: int(p.high[numberHeight]), MaxWidth: int(p.high[numberWidth]),
		Uniform: p.low[numberHeight] > 0 && len(p.encodings) == 1,
	}
	for _, k := range []int{numberHeight, numberWidth, numberChannels} {
		m.Stats.Uniform = m.Stats.Uniform && p.low[k] == p.high[k]
	}
	if h := (formats.History{Edited: p.edited, Origins: int(p.high[numberOrigin])}); h != (formats.History{}) {
		m.History = &h
	}
}

// HasHistory reports whether a row has Provenance.
func (p *Profile) HasHistory() bool { return p.edited > 0 || p.high[numberOrigin] > 0 }

// layout lays out an index of these rows; its sections begin after the description.
func (p *Profile) layout() *layout {
	l := &layout{rows: p.n, columns: p.columns, fields: p.fields, numbers: make([]number, len(p.low))}
	for k := range l.numbers {
		l.numbers[k] = number{base: p.low[k], width: widthFor(uint64(p.high[k]) - uint64(p.low[k]))}
	}
	l.splits, l.encodings = sortedNames(p.splits), sortedNames(p.encodings)
	for _, name := range l.splits {
		l.counts = append(l.counts, p.splits[name])
	}
	l.suffixes = []string{""}
	paths := p.paths
	if p.suffixes != nil {
		l.suffixes = append(l.suffixes, sortedNames(p.suffixes)...)
		paths = p.oddPath
	}
	l.numbers[numberSplit] = codes(len(l.splits))
	l.numbers[numberEncoding] = codes(len(l.encodings))
	l.numbers[numberSuffix] = codes(len(l.suffixes))
	l.numbers[numberKey] = number{width: widthFor(uint64(p.keys))}
	l.numbers[numberPath] = number{width: widthFor(uint64(paths))}
	for k, n := range p.texts {
		l.numbers[l.user0()+k] = number{width: widthFor(uint64(n))}
	}
	if p.hasChecksum {
		l.checksum = hashStored
	}
	switch {
	case p.hasHash && p.otherHash:
		l.hash = hashStored
	case p.hasHash:
		l.hash = hashSame
	}
	// The description's length does not depend on where the sections are.
	l.keys.length, l.paths.length = p.keys, paths
	l.user = make([]span, len(p.texts))
	for k, n := range p.texts {
		l.user[k].length = n
	}
	from := align(pageSize + int64(len(l.encode())))
	l.user = nil
	l.finish(from, math.MaxInt64/2, p.keys, paths, p.texts)
	return l
}

// codes is the number that has indices of n names.
func codes(n int) number { return number{width: widthFor(uint64(max(n-1, 0)))} }

func sortedNames(counts map[string]int) []string {
	names := make([]string, 0, len(counts))
	for s := range counts {
		names = append(names, s)
	}
	slices.SortFunc(names, cmp.Compare[string])
	return names
}
