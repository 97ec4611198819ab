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

// Splitter assigns a split to each sample:
//
//	""                     the source's own splits; "auto" means the same
//	"none"                 no splits
//	"train=0.9,val=0.1"    by shares of each class, decided by hashes of the keys
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
	for p := range strings.SplitSeq(string(sp), ",") {
		name, text, _ := strings.Cut(p, "=")
		x, err := strconv.ParseFloat(text, 64)
		if err != nil || !(x > 0 && x <= 1) || name == "" || strings.Contains(name, " ") || formats.CheckSplit(name) != nil {
			return nil, fmt.Errorf("split %q: write it as train=0.9,val=0.1", string(sp))
		}
		list = append(list, share{name, x})
		total += x
	}
	if math.Abs(total-1) > 1e-6 {
		return nil, fmt.Errorf("split %q: the shares add up to %g, not to 1", string(sp), total)
	}
	return list, nil
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

// Assign returns the split of every sample of src, by index.
func (sp Splitter) Assign(src formats.Dataset) ([]string, error) {
	if src == nil {
		return nil, errors.New("convert.Splitter.Assign: the source is nil: open one first")
	}
	shares, err := sp.shares()
	if err != nil {
		return nil, err
	}
	column := -1
	if name := sp.Column(); name != "" {
		if column = slices.Index(src.Meta().Columns, name); column < 0 {
			return nil, fmt.Errorf("split %q: the source has no column of that name; its columns: %s", name, cmp.Or(strings.Join(src.Meta().Columns, ", "), "none"))
		}
	}
	splits := make([]string, src.Len())
	classes := map[int64][]hashedSample{}
	for i := range splits {
		in, err := src.Info(i)
		switch {
		case err != nil:
			return nil, fmt.Errorf("sample %d of the source: %w", i, err)
		case sp == NoSplits:
		case column >= len(in.Columns):
			return nil, fmt.Errorf("key %q: it has %d columns, the source's Meta has %d", in.Key, len(in.Columns), len(src.Meta().Columns))
		case column >= 0:
			splits[i] = in.Columns[column]
		case shares != nil:
			classes[in.Label] = append(classes[in.Label], hashedSample{splitHash(in.Key), i})
		default:
			splits[i] = in.Split
		}
	}
	for _, members := range classes {
		stratify(members, shares, splits)
	}
	return splits, checkSplits(src, splits)
}

// checkSplits returns an error if a name in splits, the splits of src's samples, is not valid.
func checkSplits(src formats.Dataset, splits []string) error {
	checked := map[string]bool{}
	for i, name := range splits {
		if checked[name] {
			continue
		}
		checked[name] = true
		if err := formats.CheckSplit(name); err != nil {
			in, ierr := src.Info(i)
			return errors.Join(fmt.Errorf("key %q: %w: rename the split, or pack without splits (split none)", in.Key, err), ierr)
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
func stratify(members []hashedSample, shares []share, splits []string) {
	slices.SortFunc(members, func(a, b hashedSample) int {
		return cmp.Or(cmp.Compare(a.hash, b.hash), a.index-b.index)
	})
	upTo := 0.0
	from := 0
	for _, p := range shares {
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
