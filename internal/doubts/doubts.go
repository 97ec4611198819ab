// Package doubts finds what is probably a mistake in a dataset and is no error: images with the same bytes in several splits
// or classes, classes that differ only in upper and lower case, labels that count from 1. It reads the index and no image.
package doubts

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// Finder takes the samples of one or several datasets, whose splits count as one's. Memory is bounded: what does not fit is
// sorted on the disk. It belongs to one goroutine.
type Finder struct {
	sorter   *extsort.Sorter
	datasets []formats.Dataset
	splits   map[string]uint64
	labels   map[int64]bool // class indices
	record   record
}

// record is a sample: the numbers of its dataset and of the sample in it, of its split and of its class, both 0 for none.
type record [24]byte

const atSplit, atClass = 8, 16

// New returns a Finder that takes about memory bytes, 0 for 256 MiB.
func New(memory int64) *Finder {
	return &Finder{sorter: extsort.New("", memory), splits: map[string]uint64{}, labels: map[int64]bool{}}
}

// maxClasses bounds the memory for the class indices.
const maxClasses = 1 << 20

// Add adds sample i of ds, which must stay open until Found returns. One without a hash is not compared.
func (f *Finder) Add(ds formats.Dataset, i int, in *formats.Info) error {
	if n := len(f.datasets); n == 0 || f.datasets[n-1] != ds {
		f.datasets = append(f.datasets, ds)
	}
	if in.Label >= 0 && len(f.labels) < maxClasses {
		f.labels[in.Label] = true
	}
	if in.Source.Hash == [16]byte{} {
		return nil
	}
	split, known := f.splits[in.Split]
	if !known && in.Split != "" {
		split = uint64(len(f.splits) + 1)
		f.splits[in.Split] = split
	}
	binary.LittleEndian.PutUint32(f.record[:], uint32(len(f.datasets)-1))
	binary.LittleEndian.PutUint32(f.record[4:], uint32(i))
	binary.LittleEndian.PutUint64(f.record[atSplit:], split)
	binary.LittleEndian.PutUint64(f.record[atClass:], uint64(in.Label+1))
	return f.sorter.Add(in.Source.Hash[:], f.record[:])
}

// AddAll adds all samples of ds.
func (f *Finder) AddAll(ctx context.Context, ds formats.Dataset) error {
	for i := range ds.Len() {
		if i%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		in, err := ds.Info(i)
		if err == nil {
			err = f.Add(ds, i, &in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Found returns a sentence about images in several splits, about images in several classes, and about labels that count
// from 1; none if there are none.
func (f *Finder) Found() (list []string, err error) {
	if n := len(f.labels); n > 1 && f.fromOne() {
		list = append(list, fmt.Sprintf("the labels are all of 1 to %d, and no image has 0: a model needs %d outputs, unless you subtract 1", n, n+1))
	}
	if len(f.splits) < 2 && len(f.labels) < 2 {
		return list, nil
	}
	splits, classes := finding{at: atSplit}, finding{at: atClass}
	var hash [16]byte
	err = f.sorter.Each(func(key, value []byte) error {
		if [16]byte(key) != hash {
			hash = [16]byte(key)
			splits.next()
			classes.next()
		}
		splits.add(record(value))
		classes.add(record(value))
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, k := range []struct {
		found *finding
		text  string
	}{
		{&splits, "%d image(s) are in several splits with the same bytes, such as %s and %s: results on one of these splits tell nothing about them"},
		{&classes, "%d image(s) have several classes with the same bytes, such as %s and %s"},
	} {
		if k.found.images == 0 {
			continue
		}
		one, err := f.name(k.found.example[0])
		if err != nil {
			return nil, err
		}
		other, err := f.name(k.found.example[1])
		if err != nil {
			return nil, err
		}
		list = append(list, fmt.Sprintf(k.text, k.found.images, one, other))
	}
	return list, nil
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

// name returns the path of a sample in its source, or its key.
func (f *Finder) name(r record) (string, error) {
	ds := f.datasets[binary.LittleEndian.Uint32(r[:])]
	in, err := ds.Info(int(binary.LittleEndian.Uint32(r[4:])))
	return in.Name(), err
}

// Close frees the memory.
func (f *Finder) Close() error { return f.sorter.Close() }

// finding counts the images that have several numbers at a place of their records.
type finding struct {
	at      int
	images  int
	example [2]record // of the first of them

	first   record // of the image that is looked at
	number  uint64 // its number there, 0 for none
	several bool
}

func (k *finding) next() { k.number, k.several = 0, false }

func (k *finding) add(r record) {
	switch x := binary.LittleEndian.Uint64(r[k.at:]); {
	case x == 0 || k.several || x == k.number:
	case k.number == 0:
		k.first, k.number = r, x
	default:
		if k.several = true; k.images == 0 {
			k.example = [2]record{k.first, r}
		}
		k.images++
	}
}
