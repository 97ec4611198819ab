//go:build linux

package main

import (
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

const (
	classes = 1000
	side    = 8 // of the one image that all samples have
)

// madeUp is a dataset whose samples are computed from their number, in key order.
type madeUp struct {
	n    int
	meta formats.Meta
	jpeg []byte
}

var _ formats.Dataset = (*madeUp)(nil)

func newMadeUp(n int) (*madeUp, error) {
	label := formats.Field{Name: "label", Kind: formats.Label}
	for c := range classes {
		label.Classes = append(label.Classes, className(c))
	}
	d := &madeUp{n: n, meta: formats.Meta{
		Format: "folder", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, label},
		Splits: []formats.Split{{Name: "train", Count: n}},
	}}
	var m pixel.Image
	m.Reset(side, side, 3, formats.Uint8)
	e := codec.NewEncoder()
	defer e.Close()
	var err error
	d.jpeg, err = e.AppendJPEG(nil, &m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 50})
	return d, err
}

// className is like ImageNet's.
func className(c int) string { return fmt.Sprintf("n%08d", 1_440_764+13_111*c) }

func (d *madeUp) Meta() *formats.Meta { return &d.meta }

func (d *madeUp) Len() int { return d.n }

func (d *madeUp) Close() error { return nil }

// each is the number of samples of a class, of which the last has fewer.
func (d *madeUp) each() int { return (d.n + classes - 1) / classes }

// class returns the class of sample i.
func (d *madeUp) class(i int) int { return i / d.each() }

// key returns the key of sample i: its class's folder, and a number of fixed width.
func (d *madeUp) key(i int) string {
	c := d.class(i)
	number := strconv.Itoa(100_000_000 + i - c*d.each())
	return d.meta.Schema[1].Classes[c] + "/" + number[1:]
}

// Info implements formats.Dataset.
func (d *madeUp) Info(i int) (formats.Info, error) {
	if i < 0 || i >= d.n {
		return formats.Info{}, fmt.Errorf("index %d of %d", i, d.n)
	}
	key := d.key(i)
	return formats.Info{
		Key: key, Split: "train", Label: int64(d.class(i)), Size: int64(len(d.jpeg)), Encoding: formats.JPEG, Shape: [3]int{side, side, 3},
		Source: formats.Source{Path: key + ".JPEG", Size: int64(len(d.jpeg)), ModTime: modTime(i)},
	}, nil
}

func modTime(i int) int64 { return 1_700_000_000_000_000_000 + int64(random.Mix(uint64(i))%1e15) }

// Read implements formats.Dataset.
func (d *madeUp) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	s.Key, s.Split, s.Source = in.Key, in.Split, in.Source
	s.Resize(2)
	s.Values[0].Copy(d.jpeg)
	s.Values[0].Encoding = formats.JPEG
	s.Values[0].SetShape(side, side, 3)
	s.Values[1].SetInt64(in.Label)
	return nil
}

// row returns the row of sample i in an index of images of 10 to 200 kB in shards.
func (d *madeUp) row(i, shards int) (r sampleindex.Row, err error) {
	r.Info, err = d.Info(i)
	random := random.Mix(uint64(i) + 1)
	r.Size = int64(10_000 + random%190_000)
	r.Source.Size = r.Size
	r.Shape = [3]int{int(200 + random>>20%1000), int(200 + random>>40%1000), 3}
	for k := range r.Checksum {
		r.Checksum[k] = byte(random >> (8 * (k % 8)))
	}
	r.Source.Hash = r.Checksum
	each := (d.n + shards - 1) / shards
	r.Location = sampleindex.Location{Shard: i / each, Offset: int64(i%each) * 202_000, Length: r.Size + 1024}
	return r, err
}
