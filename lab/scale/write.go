//go:build linux

package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

const classes = 1000

// photo returns a JPEG of side by side pixels. Images have noise after its end, which decoders ignore.
func photo(side int) ([]byte, error) {
	var m pixel.Image
	m.Reset(side, side, 3, formats.Uint8)
	for i := range m.Pix {
		m.Pix[i] = byte(i%(3*side) + i/side)
	}
	e := codec.NewEncoder()
	defer e.Close()
	return e.AppendJPEG(nil, &m, codec.EncodeOptions{Encoding: formats.JPEG, Quality: 50})
}

// names are the file names of datasets by format.
var names = map[string]string{"lmdb": "x.lmdb", "hdf5": "x.h5", "shard": "x-%06d.tar", "tfrecord": "x-%06d.tfrecord"}

// write writes a dataset of n samples to dir, unless it exists.
func (s *settings) write(f formats.WritableFormat, dir string, n int) error {
	path := pathOf(f, dir)
	if s.keep {
		if _, err := os.Stat(dir); err == nil {
			return nil
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	meta := formats.Meta{Version: formats.Version, Format: f.Name(), Schema: schema()}
	w, err := f.Create(path, meta, formats.CreateOptions{})
	if err != nil {
		return err
	}
	if err := s.fill(w, f.Traits(), meta.Schema, n); err != nil {
		return errors.Join(err, w.Close())
	}
	return errors.Join(w.Commit(), w.Close())
}

func schema() formats.Schema {
	label := formats.Field{Name: "label", Kind: formats.Label}
	for c := range classes {
		label.Classes = append(label.Classes, className(c))
	}
	return formats.Schema{{Name: "image", Kind: formats.Image}, label}
}

// className is like ImageNet's.
func className(c int) string { return fmt.Sprintf("n%08d", 1_440_764+13_111*c) }

// fill writes n samples in the order that the format needs: by key or shuffled.
func (s *settings) fill(w formats.Writer, traits formats.Traits, schema formats.Schema, n int) error {
	var order []int // sample i has class i modulo classes; keys begin with the class
	for c := range classes {
		for i := c; i < n; i += classes {
			order = append(order, i)
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	if !traits.Ordered {
		random.Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	}
	pool := make([]byte, 1<<20+s.MaxBytes)
	for i := range pool {
		pool[i] = byte(random.Uint32())
	}
	var smp formats.Sample
	smp.Resize(len(schema))
	each := (n + s.Shards - 1) / s.Shards
	for k, i := range order {
		s.sample(&smp, i, random, pool)
		smp.Checksum = checksum.SampleChecksum(schema, &smp)
		if err := w.Write(&smp); err != nil {
			return err
		}
		if c, ok := w.(formats.ShardEnder); ok && traits.Sharded && (k+1)%each == 0 {
			if err := c.EndShard(); err != nil {
				return err
			}
		}
	}
	return nil
}

// sample sets smp to sample i: the JPEG and noise.
func (s *settings) sample(smp *formats.Sample, i int, random *rand.Rand, pool []byte) {
	name := className(i % classes)
	size := s.MinBytes + random.IntN(s.MaxBytes-s.MinBytes+1)
	image := &smp.Values[0]
	at := random.IntN(1 << 20)
	image.SetOwn(append(append(image.Buffer(), s.jpeg...), pool[at:at+size-len(s.jpeg)]...))
	image.Encoding = formats.JPEG
	image.SetShape(s.Side, s.Side, 3)
	smp.Values[1].SetInt64(int64(i % classes))
	smp.Key = fmt.Sprintf("train/%s/%s_%d", name, name, 10_000+i/classes)
	smp.Source = formats.Source{
		Path: smp.Key + ".JPEG", Size: int64(size), ModTime: 1_700_000_000_000_000_000 + random.Int64N(1e15), Hash: checksum.Hash(image.Data),
	}
}

func pathOf(f formats.WritableFormat, dir string) string { return filepath.Join(dir, names[f.Name()]) }
