package convert

import (
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

// Split says which split a sample belongs to.
type Split struct {
	spec   string // canonical
	none   bool
	column string
	shares  []share
}

type share struct {
	name  string
	fraction float64
}

// ParseSplit reads auto (the source's own splits), none, train=0.9,val=0.1 (seeded,
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

// Shares says that samples are dealt out by shares.
func (sp Split) ByShares() bool { return sp.shares != nil }

// Column is the user's column that is the split, "" if none is.
func (sp Split) Column() string { return sp.column }

// Own says that the source tells the split of each sample.
func (sp Split) FromSource() bool { return sp.shares == nil && !sp.none && sp.column == "" }

// Assign gives the split of every sample of src, by index.
func (sp Split) Assign(src formats.Dataset) ([]string, error) {
	column := -1
	if sp.column != "" {
		if column = slices.Index(src.Meta().Columns, sp.column); column < 0 {
			return nil, fmt.Errorf("split: no column %q in the source; it has: %s", sp.column, strings.Join(src.Meta().Columns, ", "))
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

// CheckSplits refuses splits, one of each sample of src, whose names cannot be names.
func CheckSplits(src formats.Dataset, splits []string) error {
	checked := map[string]bool{}
	for i, name := range splits {
		if checked[name] {
			continue
		}
		checked[name] = true
		if err := formats.CheckSplit(name); err != nil {
			in, ierr := src.Info(i)
			return errors.Join(fmt.Errorf("key %q: %w: give the split another name, or pack without splits (--split none)", in.Key, err), ierr)
		}
	}
	return nil
}

// drawn is a sample with the number that decides its split: a hash of its key, so that it
// does not depend on which other samples there are, in what order.
type hashedSample struct {
	hash uint64
	index  int
}

func splitHash(key string) uint64 {
	return xxh3.Hash(append(binary.LittleEndian.AppendUint64(nil, 0), key...))
}

// stratify deals the samples of one class out by the shares, the first part rounding last.
func (sp Split) stratify(members []hashedSample, splits []string) {
	slices.SortFunc(members, func(a, b hashedSample) int {
		if a.hash != b.hash {
			if a.hash < b.hash {
				return -1
			}
			return 1
		}
		return a.index - b.index
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

// Names lists the splits in order of first need: train first, then by name.
func SplitNames(splits []string) []string {
	seen := map[string]bool{}
	for _, s := range splits {
		seen[s] = true
	}
	names := make([]string, 0, len(seen))
	for s := range seen {
		names = append(names, s)
	}
	slices.SortFunc(names, func(a, b string) int {
		if (a == "train") != (b == "train") {
			if a == "train" {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	return names
}
