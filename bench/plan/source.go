package plan

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
)

const (
	// inspected is how many of the sample's images have their headers read.
	inspected = 128
	// fillBytes of images are more than the processor's caches hold for long, together with what is made of them; but no
	// more than fillMost images are tried for that.
	fillBytes = 16 << 20
	fillMost  = 1 << 14
)

// source is the dataset that is planned for, and what is known about its images.
type source struct {
	ds    formats.Dataset
	path  string
	split string // that is loaded; "" is all

	count, bytes int64 // of all images
	loaded       []int32
	indices      []int32 // some of loaded: the sample

	jpegs   bool  // most images are JPEGs
	raw     bool  // most images are pixels already
	deep    bool  // some have 16 bits per channel
	shorter []int // shorter sides of some images, sorted
	largest int64 // pixels of the largest of these
}

// survey reads what Info says of all images, and the headers of some.
func survey(ctx context.Context, ds formats.Dataset, path string, o *Options) (*source, error) {
	config := &o.Bench.Config
	s := &source{ds: ds, path: path, split: config.Split}
	if s.split == "" && len(config.Splits) == 0 {
		s.split = reader.TrainSplit(ds.Meta())
	}
	wanted := config.Splits
	if s.split != "" {
		wanted = []string{s.split}
	}
	for i := range ds.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		in, err := ds.Info(i)
		if err != nil {
			return nil, fmt.Errorf("plan %s: %w", path, err)
		}
		s.count++
		s.bytes += in.Size
		if wanted == nil || slices.Contains(wanted, in.Split) {
			s.loaded = append(s.loaded, int32(i))
		}
	}
	if len(s.loaded) == 0 {
		return nil, fmt.Errorf("plan %s: there are no images to load; the splits are %v", path, ds.Meta().Splits)
	}
	s.indices = spread(s.loaded, s.enough(o))
	return s, s.inspect(ctx)
}

// enough is the number of images to try.
func (s *source) enough(o *Options) int {
	if o.Sample > 0 {
		return o.Sample
	}
	fill := min(fillMost, fillBytes*float64(s.count)/float64(max(s.bytes, 1)))
	return max(o.effort.sample, int(fill))
}

// inspect reads the headers of some of the sample's images.
func (s *source) inspect(ctx context.Context) error {
	jpegs, raw, seen := 0, 0, 0
	var sample formats.Sample
	for _, i := range spread(s.indices, inspected) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if guard.Do(func() error { return s.ds.Read(int(i), &sample) }) != nil {
			continue // a bad image, which loading and packing name
		}
		v := &sample.Values[s.ds.Meta().Schema.ImageIndex()]
		h, w, deep, ok := shapeOf(v)
		if !ok {
			continue
		}
		s.deep = s.deep || deep
		s.shorter = append(s.shorter, min(h, w))
		s.largest = max(s.largest, int64(h)*int64(w))
		seen++
		if v.Encoding == formats.Raw {
			raw++
		}
		if v.Encoding == formats.JPEG {
			jpegs++
		}
	}
	if seen == 0 {
		return fmt.Errorf("plan %s: none of the images that were tried can be read: dsconv pack lists each with its cause", s.path)
	}
	slices.Sort(s.shorter)
	s.jpegs, s.raw = 2*jpegs > seen, 2*raw > seen
	return nil
}

// shapeOf returns an image's size and whether it has 16 bits per channel.
func shapeOf(v *formats.Value) (h, w int, deep, ok bool) {
	if v.Encoding.IsRaw() {
		if len(v.Shape) < 2 {
			return 0, 0, false, false
		}
		return v.Shape[0], v.Shape[1], v.DType == formats.Uint16, true
	}
	_, head, err := codec.Inspect(v.Data)
	return head.H, head.W, head.DType == formats.Uint16, err == nil
}

// mostLargerThan reports whether most images are larger than a side.
func (s *source) mostLargerThan(side int) bool { return s.shorter[len(s.shorter)/2] > side }

// allAtLeast reports whether no image that was looked at is smaller than a side.
func (s *source) allAtLeast(side int) bool { return s.shorter[0] >= side }
