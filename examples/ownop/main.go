// Ownop loads an epoch with a random transform of its own beside the usual ones: ownop -seed N DATASET
package main

import (
	"context"
	"flag"
	"fmt"
	"hash/crc32"
	"log"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

func main() {
	seed := flag.Uint64("seed", 1, "of the order and the transforms")
	flag.Parse()
	speckle := augment.Func{Name: "speckle", Apply: func(m *pixel.Image, r *random.Rand) error {
		for range len(m.Pix) / 100 {
			m.Pix[r.IntN(len(m.Pix))] = byte(r.IntN(256))
		}
		return nil
	}}
	loader, err := dsconv.NewLoader(flag.Arg(0), reader.Config{BatchSize: 32, Seed: *seed, Transforms: append(augment.Train(96), speckle)})
	if err != nil {
		log.Fatal(err)
	}
	defer loader.Close()
	sum := crc32.NewIEEE() // of all pixels: the same for the same seed
	for b, err := range loader.Epoch(context.Background(), 0) {
		if err != nil {
			log.Panic(err)
		}
		_, _ = sum.Write(reader.Pixels[uint8](b))
	}
	fmt.Printf("%v: checksum %08x\n", loader.Config().Transforms, sum.Sum32())
}
