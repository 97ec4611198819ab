package convert_test

import (
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

// sized says that its images are of that many bytes, and calls reading when one is read.
type sized struct {
	own
	size    func(i int) int64
	reading func(i int)
}

func (d sized) Info(i int) (formats.Info, error) {
	in, err := d.own.Info(i)
	in.Size = d.size(i)
	return in, err
}

func (d sized) Read(i int, s *formats.Sample) error {
	d.reading(i)
	return d.own.Read(i, s)
}

// counting is a format whose writers count what they wrote.
type counting struct {
	shard.Format
	written *atomic.Int64
}

func (f counting) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	w, err := f.Format.Create(path, m, o)
	return countingWriter{w, f.written}, err
}

type countingWriter struct {
	formats.Writer
	written *atomic.Int64
}

func (w countingWriter) Write(s *formats.Sample) error {
	err := w.Writer.Write(s)
	w.written.Add(1)
	return err
}

// Images that are larger than the limit are in memory one at a time: the next one is read after the last one was written.
func TestLargeImagesAreReadInTurn(t *testing.T) {
	var written atomic.Int64
	d := sized{size: func(int) int64 { return 160 << 20 }, reading: func(i int) {
		if n := written.Load(); n != int64(i) {
			t.Errorf("image %d is read when %d are written", i, n)
		}
	}}
	o := convert.Options{Order: convert.KeyOrder, Workers: 4, IOWorkers: 4}
	r, err := convert.Run(t.Context(), d, counting{written: &written}, filepath.Join(t.TempDir(), "x.tar"), o)
	if err != nil || r.Written != d.Len() {
		t.Errorf("%v: %+v", err, r)
	}
}

// Large images among small ones, of many sizes and in any order, do not stop each other for ever.
func TestLargeImagesAmongSmallOnes(t *testing.T) {
	for _, order := range []convert.Order{convert.KeyOrder, convert.Shuffled(1)} {
		d := sized{size: func(i int) int64 { return []int64{1, 20 << 20, 160 << 20, 60 << 20, 100}[i%5] }, reading: func(int) {}}
		o := convert.Options{Order: order, Workers: 3, IOWorkers: 5}
		d.change = func(i int, s *formats.Sample) {
			if i%7 == 2 {
				s.Values[0] = formats.Value{Data: []byte("none"), Encoding: formats.JPEG}
			}
		}
		r, err := convert.Run(t.Context(), d, shard.Format{}, filepath.Join(t.TempDir(), "x.tar"), o)
		if err != nil || r.Written != 17 || len(r.Skipped) != 3 {
			t.Errorf("%v: %+v", err, r)
		}
	}
}
