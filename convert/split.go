package convert

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
)

// Split assigns a split to each sample.
type Split struct {
	spec   string // as it is written in the recipe
	none   bool
	column string
	shares []share
}

type share struct {
	name     string
	fraction float64
}

// ParseSplit parses auto (the source's own splits), none, train=0.9,val=0.1 (by hashes of keys,
// stratified by class), or the name of a column of the source.
func ParseSplit(s string) (Split, error) {
	switch {
	case s == "" || s == "auto":
		return Split{spec: "auto"}, nil
	case s == "none":
		return Split{spec: s, none: true}, nil
	case !strings.Contains(s, "="):
		return Split{spec: s, column: s}, nil
	}
	sp := Split{spec: s}
	total := 0.0
	for p := range strings.SplitSeq(s, ",") {
		name, text, _ := strings.Cut(p, "=")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) || name == "" || strings.Contains(name, " ") || formats.CheckSplit(name) != nil {
			return sp, fmt.Errorf("split %q: write it as train=0.9,val=0.1", s)
		}
		sp.shares = append(sp.shares, share{name, x})
		total += x
	}
	if math.Abs(total-1) > 1e-6 {
		return sp, fmt.Errorf("split %q: the shares add up to %g, not to 1", s, total)
	}
	return sp, nil
}

// ByShares reports whether splits are assigned by shares, such as train=0.9.
func (sp Split) ByShares() bool { return sp.shares != nil }

// Column returns the name of the column that has the split, "" if none has.
func (sp Split) Column() string { return sp.column }

// FromSource reports whether samples keep the splits of the source.
func (sp Split) FromSource() bool { return sp.shares == nil && !sp.none && sp.column == "" }

// Assign returns the split of every sample of src, by index.
func (sp Split) Assign(src formats.Dataset) ([]string, error) {
	column := -1
	if sp.column != "" {
		if column = slices.Index(src.Meta().Columns, sp.column); column < 0 {
			return nil, fmt.Errorf("split %q: the source has no column of that name; its columns: %s", sp.column, cmp.Or(strings.Join(src.Meta().Columns, ", "), "none"))
		}
	}
	splits := make([]string, src.Len())
	classes := map[int64][]hashedSample{}
	for i := range splits {
		in, err := src.Info(i)
		if err != nil {
			return nil, err
		}
		switch {
		case sp.none:
		case column >= 0:
			splits[i] = in.Columns[column]
		case sp.shares != nil:
			classes[in.Label] = append(classes[in.Label], hashedSample{splitHash(in.Key), i})
		default:
			splits[i] = in.Split
		}
	}
	for _, members := range classes {
		sp.stratify(members, splits)
	}
	return splits, nil
}

// CheckSplits returns an error if a name in splits, the splits of src's samples, is not valid.
func CheckSplits(src formats.Dataset, splits []string) error {
	checked := map[string]bool{}
	for i, name := range splits {
		if checked[name] {
			continue
		}
		checked[name] = true
		if err := formats.CheckSplit(name); err != nil {
			in, ierr := src.Info(i)
			return errors.Join(fmt.Errorf("key %q: %w: rename the split, or pack without splits (--split none)", in.Key, err), ierr)
		}
	}
	return nil
}

// hashedSample is a sample with the hash of its key. Splits are assigned in the order of hashes, so
// they do not depend on the order of the samples.
type hashedSample struct {
	hash  uint64
	index int
}

func splitHash(key string) uint64 {
	return xxh3.Hash(append(binary.LittleEndian.AppendUint64(nil, 0), key...))
}

// stratify divides the samples of one class among the splits by their shares.
func (sp Split) stratify(members []hashedSample, splits []string) {
	slices.SortFunc(members, func(a, b hashedSample) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), a.index-b.index)
	})
	upTo := 0.0
	from := 0
	for _, p := range sp.shares {
		upTo += p.fraction
		to := min(len(members), int(math.Round(upTo*float64(len(members)))))
		for _, m := range members[from:to] {
			splits[m.index] = p.name
		}
		from = to
	}
}

// SplitNames lists the distinct splits: train first, the others by name.
func SplitNames(splits []string) []string {
	names := slices.Compact(slices.Sorted(slices.Values(splits)))
	if i := slices.Index(names, "train"); i > 0 {
		names = slices.Insert(slices.Delete(names, i, i+1), 0, "train")
	}
	return names
}
