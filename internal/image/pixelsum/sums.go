package pixelsum

import (
	"maps"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// maxSide is the largest height or width that has a count of its own, so that hostile sizes take no memory.
const maxSide = 1 << 16

// Sums are the sums of many images, and the samples of each class. A checkpoint stores them as JSON.
type Sums struct {
	Bits      int         `json:"bits"`
	Images    int         `json:"images"`
	Undecoded int         `json:"undecoded,omitempty"`
	Pixels    int64       `json:"pixels"`
	Sum       [3]Wide     `json:"sum"`
	Squares   [3]Wide     `json:"squares"`
	Heights   map[int]int `json:"heights"` // how many images have each
	Widths    map[int]int `json:"widths"`
	Classes   map[int]int `json:"classes,omitempty"`
	Unlabeled int         `json:"unlabeled,omitempty"`
}

// Add adds an image.
func (s *Sums) Add(m *Image) {
	s.Bits = max(s.Bits, m.bits)
	s.Images++
	s.Pixels += int64(m.h) * int64(m.w)
	for c := range 3 {
		s.Sum[c].add(m.sum[c])
		s.Squares[c].add(m.squares[c])
	}
	count(&s.Heights, min(m.h, maxSide))
	count(&s.Widths, min(m.w, maxSide))
}

// AddLabel adds the label of a sample in the field f; v has no class if it is missing.
func (s *Sums) AddLabel(f *formats.Field, v *formats.Value) {
	switch f.Kind {
	case formats.Label:
		if label, ok := v.Int64(); ok && label >= 0 && label < int64(max(len(f.Classes), maxSide)) {
			count(&s.Classes, int(label))
			return
		}
	case formats.MultiHot:
		found := false
		for class, set := range v.Data {
			if set != 0 {
				found = true
				count(&s.Classes, class)
			}
		}
		if found {
			return
		}
	default:
		return // a number has no class
	}
	s.Unlabeled++
}

func count(of *map[int]int, key int) {
	if *of == nil {
		*of = map[int]int{}
	}
	(*of)[key]++
}

// Merge adds the sums of o.
func (s *Sums) Merge(o *Sums) {
	s.Bits = max(s.Bits, o.Bits)
	s.Images += o.Images
	s.Undecoded += o.Undecoded
	s.Pixels += o.Pixels
	for c := range 3 {
		s.Sum[c].add(o.Sum[c])
		s.Squares[c].add(o.Squares[c])
	}
	for _, m := range []struct {
		to   *map[int]int
		from map[int]int
	}{{&s.Heights, o.Heights}, {&s.Widths, o.Widths}, {&s.Classes, o.Classes}} {
		for key, n := range m.from {
			count(m.to, key)
			(*m.to)[key] += n - 1
		}
	}
	s.Unlabeled += o.Unlabeled
}

// figures returns the figures of the sums, of a split and that many classes.
func (s *Sums) figures(split string, classes int) formats.PixelFigures {
	f := formats.PixelFigures{
		Split: split, Images: s.Images, Undecoded: s.Undecoded, Pixels: s.Pixels,
		Height: sizeRange(s.Heights), Width: sizeRange(s.Widths), Unlabeled: s.Unlabeled,
	}
	for c := range 3 {
		f.Mean[c], f.Std[c] = meanAndDeviation(s.Pixels, s.Sum[c], s.Squares[c])
	}
	for class := range s.Classes {
		classes = max(classes, class+1)
	}
	for class := range classes {
		f.Classes = append(f.Classes, s.Classes[class])
	}
	return f
}

// sizeRange returns the range of sizes that are counted.
func sizeRange(counts map[int]int) (r formats.SizeRange) {
	sizes := slices.Sorted(maps.Keys(counts))
	if len(sizes) == 0 {
		return r
	}
	r.Min, r.Max = sizes[0], sizes[len(sizes)-1]
	total, upTo := 0, 0
	for _, n := range counts {
		total += n
	}
	for _, size := range sizes {
		if upTo += counts[size]; 2*upTo >= total {
			r.Median = size
			break
		}
	}
	return r
}

// Statistics returns the statistics of the splits' sums, whose names are the keys; "" is the split of samples
// without one.
func Statistics(splits map[string]*Sums, classes int) *formats.PixelStats {
	all, stats := new(Sums), new(formats.PixelStats)
	for _, name := range slices.Sorted(maps.Keys(splits)) {
		all.Merge(splits[name])
		if name != "" {
			stats.Splits = append(stats.Splits, splits[name].figures(name, classes))
		}
	}
	stats.Bits, stats.PixelFigures = max(all.Bits, 8), all.figures("", classes)
	return stats
}
