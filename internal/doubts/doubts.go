// Package doubts finds what is probably a mistake in a dataset and is no error: images with the same bytes in several splits
// or classes, classes that differ only in upper and lower case, labels that count from 1. It reads the index and no image. It says too how many images a run may leave out before it refuses.
package doubts

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// Finder takes the samples of datasets, each once. Memory is bounded: what does not fit is sorted on the disk.
type Finder struct {
	memory   int64
	datasets []formats.Dataset
	splits   map[string]int
	labels   map[int64]bool    // class indices
	maxSeen  int               // takes a quarter of the memory
	seen     map[uint64]uint32 // images by the beginnings of their hashes, at most maxSeen
	several  bool              // one of seen is above 1, or there were too many
	label    int64             // of the sample before, which mostly is the same
	split    string            // likewise
}

// record is a sample: the numbers of its dataset, of the sample in it, of its split and of its class, the last two 0 for none.
type record [4]uint64

// Find takes all samples of datasets, whose splits count as one's, and returns what Found does.
func Find(ctx context.Context, memory int64, datasets ...formats.Dataset) ([]string, error) {
	f := New(memory, datasets...)
	for _, ds := range datasets {
		for i := range ds.Len() {
			in, err := ds.Info(i)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return nil, err
			}
			f.Add(&in)
		}
	}
	return f.Found(ctx)
}

// New returns a Finder of datasets that takes about memory bytes, 0 for 256 MiB.
func New(memory int64, datasets ...formats.Dataset) *Finder {
	n, maxSeen := 0, int(cmp.Or(memory, 256<<20)/64)
	for _, ds := range datasets {
		n += ds.Len()
	}
	return &Finder{
		memory: memory, datasets: datasets, splits: map[string]int{"": 0}, labels: map[int64]bool{}, label: formats.NoLabel,
		maxSeen: maxSeen, seen: make(map[uint64]uint32, min(n, maxSeen)),
	}
}

// maxClasses bounds the memory for the class indices.
const maxClasses = 1 << 20

// Add takes a sample. One without a hash is not compared.
func (f *Finder) Add(in *formats.Info) {
	if in.Label >= 0 && in.Label != f.label && len(f.labels) < maxClasses {
		f.labels[in.Label], f.label = true, in.Label
	}
	if in.Source.Hash == [16]byte{} {
		return
	}
	if in.Split != f.split {
		if _, known := f.splits[in.Split]; !known {
			f.splits[in.Split] = len(f.splits)
		}
		f.split = in.Split
	}
	n := len(f.seen)
	if n < f.maxSeen {
		f.seen[beginning(in)]++
	}
	f.several = f.several || len(f.seen) == n
}

func beginning(in *formats.Info) uint64 { return binary.LittleEndian.Uint64(in.Source.Hash[:]) }

// sort gives sorter the images whose bytes others may have.
func (f *Finder) sort(ctx context.Context, sorter *extsort.Sorter) error {
	for d, ds := range f.datasets {
		for i := range ds.Len() {
			in, err := ds.Info(i)
			if err = errors.Join(err, ctx.Err()); err != nil {
				return err
			}
			if len(f.seen) < f.maxSeen && f.seen[beginning(&in)] < 2 || in.Source.Hash == [16]byte{} {
				continue
			}
			var value [32]byte
			for k, x := range (record{uint64(d), uint64(i), uint64(f.splits[in.Split]), uint64(in.Label + 1)}) {
				binary.LittleEndian.PutUint64(value[8*k:], x)
			}
			if err := sorter.Add(in.Source.Hash[:], value[:]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Found returns a sentence for each kind of doubt about the samples, none if there are none.
func (f *Finder) Found(ctx context.Context) (list []string, err error) {
	if n := len(f.labels); n > 1 && f.fromOne() {
		list = append(list, fmt.Sprintf("the labels are all of 1 to %d, and no image has 0: a model needs %d outputs, unless you subtract 1", n, n+1))
	}
	if !f.several || len(f.splits) < 3 && len(f.labels) < 2 {
		return list, nil
	}
	sorter := extsort.New("", f.memory)
	defer func() { err = errors.Join(err, sorter.Close()) }()
	if err := f.sort(ctx, sorter); err != nil {
		return list, err
	}
	const splits, classes = 2, 3
	var hash [16]byte
	var first, example, other [4]record // of the image that is looked at, and of the first that has several; by position in a record
	var images, several [4]int          // in several splits or classes; the image that is looked at is
	err = sorter.Each(func(key, value []byte) error {
		if [16]byte(key) != hash {
			hash, first, several = [16]byte(key), [4]record{}, [4]int{}
		}
		var r record
		for k := range r {
			r[k] = binary.LittleEndian.Uint64(value[8*k:])
		}
		for _, k := range []int{splits, classes} {
			switch {
			case first[k][k] == 0:
				first[k] = r
			case r[k] != 0 && r[k] != first[k][k] && several[k] == 0:
				if several[k] = 1; images[k] == 0 {
					example[k], other[k] = first[k], r
				}
				images[k]++
			}
		}
		return nil
	})
	for k, text := range []string{splits: "are in several splits", classes: "have several classes"} {
		if err != nil || images[k] == 0 {
			continue
		}
		var one, two formats.Info
		if one, err = f.datasets[example[k][0]].Info(int(example[k][1])); err == nil {
			two, err = f.datasets[other[k][0]].Info(int(other[k][1]))
		}
		list = append(list, fmt.Sprintf("%d image(s) %s with the same bytes, such as %s and %s", images[k], text, one.Name(), two.Name()))
	}
	return list, err
}

// fromOne reports whether the labels are the numbers from 1 to their count, without names.
func (f *Finder) fromOne() bool {
	for x := range f.labels {
		if x < 1 || x > int64(len(f.labels)) {
			return false
		}
	}
	classes := f.datasets[0].Meta().Classes()
	return len(classes) == 0 || classes[0] == "0"
}

// OfClasses returns sentences about the classes of a dataset. Few images may have a class each.
func OfClasses(m *formats.Meta, images int) (list []string) {
	const few = 20
	for _, f := range m.Schema {
		first := map[string]string{}
		for _, name := range f.Classes {
			lower := strings.ToLower(name)
			if other, twin := first[lower]; twin {
				list = append(list, fmt.Sprintf("%s: the classes %s and %s differ only in upper and lower case", f.Name, other, name))
				break
			}
			first[lower] = name
		}
		if n := len(f.Classes); f.Kind == formats.Label && images >= few && n >= images-images/10 {
			list = append(list, fmt.Sprintf("%s: %d classes for %d images: perhaps it is not the label but a name or a number of each image", f.Name, n, images))
		}
	}
	return list
}
