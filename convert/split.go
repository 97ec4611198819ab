package convert

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// Splitter assigns a split to each sample:
//
//	""                     the source's own splits; "auto" means the same
//	"none"                 no splits
//	"train=0.9,val=0.1"    by shares of each class, decided by hashes of the keys; with ":seed=3" at the end
//	                       by others
//	"fold"                 the splits in the source's column of that name
type Splitter string

// NoSplits assigns no splits.
const NoSplits Splitter = "none"

type share struct {
	name     string
	fraction float64
}

// Validate returns an error if sp cannot be read. Whether the source has the column is checked by Assign.
func (sp Splitter) Validate() error {
	_, err := sp.shares()
	return err
}

// shares returns the shares of the splits, nil if they are not assigned by shares.
func (sp Splitter) shares() ([]share, error) {
	if !sp.ByShares() {
		return nil, nil
	}
	var list []share
	total := 0.0
	text, _, err := sp.seed()
	if err != nil {
		return nil, err
	}
	for p := range strings.SplitSeq(text, ",") {
		name, text, _ := strings.Cut(p, "=")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) || name == "" || strings.Contains(name, " ") || formats.CheckSplit(name) != nil {
			return nil, fmt.Errorf("split %q: write it as train=0.9,val=0.1", string(sp))
		}
		list = append(list, share{name, x})
		total += x
	}
	if len(list) > math.MaxUint16 {
		return nil, fmt.Errorf("split: %d shares are too many", len(list))
	}
	if math.Abs(total-1) > 1e-6 {
		return nil, fmt.Errorf("split %q: the shares add up to %g, not to 1", string(sp), total)
	}
	return list, nil
}

// seed returns the text of sp without the seed, and the seed of the hashes.
func (sp Splitter) seed() (text string, seed uint64, err error) {
	text, number, ok := strings.Cut(string(sp), ":seed=")
	if !ok {
		return text, 0, nil
	}
	if seed, err = strconv.ParseUint(number, 10, 64); err != nil {
		return text, 0, fmt.Errorf("split %q: the seed is a number, such as train=0.9,val=0.1:seed=3", string(sp))
	}
	return text, seed, nil
}

// ByShares reports whether splits are assigned by shares, such as train=0.9.
func (sp Splitter) ByShares() bool { return strings.Contains(string(sp), "=") }

// FromSource reports whether samples keep the splits of the source.
func (sp Splitter) FromSource() bool { return sp == "" || sp == "auto" }

// Column returns the name of the column that has the split, "" if none has.
func (sp Splitter) Column() string {
	if sp.FromSource() || sp == NoSplits || sp.ByShares() {
		return ""
	}
	return string(sp)
}

// Splits has the splits of a dataset's samples. The zero value has the samples' own. It is safe for concurrent
// use.
type Splits struct {
	splitter Splitter
	column   int                   // 1 + the index of the source's column that has them; 0 for none
	shares   []share               // nil if they are not assigned by shares
	codes    *offheapArray[uint16] // by index: of shares
	names    []string              // of all samples
}

// Of returns the split of sample i of the dataset, whose Info is in.
func (s *Splits) Of(i int, in formats.Info) string {
	switch {
	case s.codes != nil:
		return s.shares[s.codes.At(i)].name
	case s.column > 0:
		return in.Columns[s.column-1]
	case s.splitter == NoSplits:
		return ""
	}
	return in.Split
}

// Names returns the distinct splits: train first, the others by name.
func (s *Splits) Names() []string { return slices.Clone(s.names) }

// Assign returns the splits of the samples of src. Splits by shares take two bytes for each sample, others
// none.
func (sp Splitter) Assign(src formats.Dataset) (*Splits, error) { return sp.assign(src, 0) }

// assign is Assign; memory is that of the sort.
func (sp Splitter) assign(src formats.Dataset, memory int64) (*Splits, error) {
	s := &Splits{splitter: sp}
	var err error
	if s.shares, err = sp.shares(); err != nil {
		return nil, err
	}
	if s.shares != nil {
		return s, s.stratify(src, memory)
	}
	if name := sp.Column(); name != "" {
		if s.column = 1 + slices.Index(src.Meta().Columns, name); s.column == 0 {
			return nil, fmt.Errorf("split %q: the source has no column of that name; its columns: %s", name, cmp.Or(strings.Join(src.Meta().Columns, ", "), "none"))
		}
	}
	return s, s.collectNames(src)
}

// collectNames sets the names, and checks them.
func (s *Splits) collectNames(src formats.Dataset) error {
	names := map[string]bool{}
	if _, ok := src.(formats.Growing); ok {
		return nil // they are not known
	}
	for i := range src.Len() {
		in, err := src.Info(i)
		if err != nil {
			return fmt.Errorf("sample %d of the source: %w", i, err)
		}
		if s.column > len(in.Columns) {
			return fmt.Errorf("key %q: it has %d columns, the source's Meta has %d", in.Key, len(in.Columns), len(src.Meta().Columns))
		}
		name := s.Of(i, in)
		if names[name] {
			continue
		}
		if err := formats.CheckSplit(name); err != nil {
			return fmt.Errorf("key %q: %w: rename the split, or pack without splits (split none)", in.Key, err)
		}
		names[strings.Clone(name)] = true
	}
	s.setNames(maps.Keys(names))
	return nil
}

func (s *Splits) setNames(names iter.Seq[string]) {
	s.names = slices.Sorted(names)
	if i := slices.Index(s.names, "train"); i > 0 {
		s.names = slices.Insert(slices.Delete(s.names, i, i+1), 0, "train")
	}
}

// stratify divides the samples of each class among the splits by their shares, in the order of their keys'
// hashes: the splits do not depend on the order of the samples.
func (s *Splits) stratify(src formats.Dataset, memory int64) (err error) {
	if s.codes, err = newOffheap[uint16](src.Len()); err != nil {
		return err
	}
	_, seed, _ := s.splitter.seed() // shares has checked it
	sorter := extsort.New("", memory)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	sizes := map[int64]int{} // of the classes
	var b []byte
	for i := range src.Len() {
		in, err := src.Info(i)
		if err != nil {
			return fmt.Errorf("sample %d of the source: %w", i, err)
		}
		sizes[in.Label]++
		b = binary.BigEndian.AppendUint64(b[:0], uint64(in.Label))
		b = binary.BigEndian.AppendUint64(b, keyHash(in.Key, seed))
		b = binary.BigEndian.AppendUint64(b, uint64(i))
		if err := sorter.Add(b, nil); err != nil {
			return err
		}
	}
	var last uint64
	place, names := 0, map[string]bool{}
	err = sorter.Each(func(key, _ []byte) error {
		label, i := binary.BigEndian.Uint64(key), binary.BigEndian.Uint64(key[16:])
		if label != last {
			last, place = label, 0
		}
		code := s.codeOf(place, sizes[int64(label)])
		s.codes.Set(int(i), uint16(code))
		names[s.shares[code].name] = true
		place++
		return nil
	})
	s.setNames(maps.Keys(names))
	return err
}

// codeOf returns the share of the member at a place of a class of size members.
func (s *Splits) codeOf(place, size int) int {
	upTo := 0.0
	for code, p := range s.shares {
		upTo += p.fraction
		if place < int(math.Round(upTo*float64(size))) {
			return code
		}
	}
	return len(s.shares) - 1
}

func keyHash(key string, seed uint64) uint64 {
	return xxh3.Hash(append(binary.LittleEndian.AppendUint64(nil, seed), key...))
}
