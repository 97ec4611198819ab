// Package pixelsum sums pixels exactly: integers of 128 bits, from which mean and standard deviation are
// rounded once. So the figures depend neither on the order of the images nor on the number of workers.
package pixelsum

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/big"
	"math/bits"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// scale is the largest value of a channel: values of 8 bits are multiplied by 257, so that both depths have
// one white.
const (
	scale = 65535
	widen = 257
)

// Wide is an unsigned integer of 128 bits: its high and its low half.
type Wide [2]uint64

// add adds n to w.
func (w *Wide) add(n Wide) {
	var carry uint64
	w[1], carry = bits.Add64(w[1], n[1], 0)
	w[0], _ = bits.Add64(w[0], n[0], carry)
}

// addProduct adds a*b to w.
func (w *Wide) addProduct(a, b uint64) {
	hi, lo := bits.Mul64(a, b)
	w.add(Wide{hi, lo})
}

func (w Wide) big() *big.Int {
	n := new(big.Int).SetUint64(w[0])
	return n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(w[1]))
}

// Image has the sums of an image's red, green and blue values, and of their squares, on the scale of 16 bits.
type Image struct {
	h, w, bits   int
	sum, squares [3]Wide
}

// Of sums the pixels of m, which has three channels.
func Of(m *pixel.Image) (Image, error) {
	s := Image{h: m.H, w: m.W, bits: 8}
	if m.C != 3 || m.DType != formats.Uint8 && m.DType != formats.Uint16 {
		return s, fmt.Errorf("%w: pixels of %d channels of %s", pixel.ErrUnsupported, m.C, m.DType)
	}
	if m.DType == formats.Uint16 {
		s.bits = 16
	}
	stride := m.W * 3 * m.DType.Size()
	for y := range m.H {
		row := m.Pix[y*stride : (y+1)*stride]
		if s.bits == 16 {
			s.addDeep(row)
		} else {
			s.add(row)
		}
	}
	return s, nil
}

// add adds a row of 8 bits. It is at most 2^31 pixels long, so 64 bits hold its sums.
func (s *Image) add(row []byte) {
	var r, g, b, rr, gg, bb uint64
	for ; len(row) >= 3; row = row[3:] {
		x, y, z := uint64(row[0]), uint64(row[1]), uint64(row[2])
		r, g, b = r+x, g+y, b+z
		rr, gg, bb = rr+x*x, gg+y*y, bb+z*z
	}
	for c, v := range [3][2]uint64{{r, rr}, {g, gg}, {b, bb}} {
		s.sum[c].addProduct(v[0], widen)
		s.squares[c].addProduct(v[1], widen*widen)
	}
}

// addDeep adds a row of 16 bits.
func (s *Image) addDeep(row []byte) {
	var sum, squares [3]uint64
	for i := 0; i+6 <= len(row); i += 6 {
		for c := range 3 {
			v := uint64(binary.LittleEndian.Uint16(row[i+2*c:]))
			sum[c] += v
			squares[c] += v * v
		}
	}
	for c := range 3 {
		s.sum[c].addProduct(sum[c], 1)
		s.squares[c].addProduct(squares[c], 1)
	}
}

// meanAndDeviation returns the mean and the standard deviation of n values with these sums, of values from 0
// to 1, each rounded once.
func meanAndDeviation(n int64, sum, squares Wide) (mean, deviation float64) {
	if n == 0 {
		return 0, 0
	}
	count, total := big.NewInt(n), sum.big()
	whole := new(big.Int).Mul(count, big.NewInt(scale))
	mean, _ = new(big.Rat).SetFrac(total, whole).Float64()
	// n * squares - sum^2 is the variance times n^2.
	v := new(big.Int).Mul(count, squares.big())
	v.Sub(v, new(big.Int).Mul(total, total))
	const precision = 256
	root := new(big.Float).SetPrec(precision).SetInt(v)
	root.Sqrt(root)
	root.Quo(root, new(big.Float).SetPrec(precision).SetInt(whole))
	deviation, _ = root.Float64()
	return mean, deviation
}

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
