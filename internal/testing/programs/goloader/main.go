// Command goloader writes the batches of reader.Loader, with which the Python loader's batches are
// compared. For each batch of each epoch it writes the number of images and the number of their
// bytes as uint64, those bytes, and the labels as int64, all little-endian.
package main

import (
	"context"
	"encoding/binary"
	"flag"
	"io"
	"log"
	"os"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

func main() {
	c := reader.Config{Layout: pixel.NCHW}
	flag.IntVar(&c.BatchSize, "batch", 8, "images per batch")
	flag.IntVar(&c.Rank, "rank", 0, "of the processes")
	flag.IntVar(&c.WorldSize, "world", 1, "how many processes share an epoch")
	flag.BoolVar(&c.Shuffle, "shuffle", false, "")
	flag.Uint64Var(&c.Seed, "seed", 0, "")
	drop := flag.Bool("drop", false, "leave out a last batch that is smaller")
	dtype := flag.String("dtype", "uint8", "uint8, float32, float16 or bfloat16")
	words := flag.String("transforms", "", "as augment.Parse reads them")
	epochs := flag.Int("epochs", 1, "")
	flag.Parse()
	c.DType = formats.DType(*dtype)
	if *drop {
		c.Tail = order.Drop
	}
	if err := write(os.Stdout, flag.Arg(0), c, *words, *epochs); err != nil {
		log.Fatal(err)
	}
}

func write(w io.Writer, path string, c reader.Config, words string, epochs int) (err error) {
	if c.Transforms, err = augment.Parse(words); err != nil {
		return err
	}
	l, err := reader.Open(dsconv.Formats(), path, c)
	if err != nil {
		return err
	}
	defer l.Close()
	for epoch := range epochs {
		for b, err := range l.Epoch(context.Background(), epoch) {
			if err != nil {
				return err
			}
			if err := writeBatch(w, b); err != nil {
				return err
			}
		}
	}
	return nil
}

func writeBatch(w io.Writer, b *reader.Batch) error {
	pixels := b.ImageBytes()
	sizes := [2]uint64{uint64(b.N), uint64(len(pixels))}
	for _, part := range []any{sizes, pixels, reader.Labels[int64](b)} {
		if err := binary.Write(w, binary.LittleEndian, part); err != nil {
			return err
		}
	}
	return nil
}
