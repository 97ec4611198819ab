package main

import (
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// loaderFlags are the flags of every command that loads batches. The arguments are the help's
// defaults of --batch, --size, --augment and --dtype, which each command chooses itself.
func loaderFlags(batch, size, ops, dtype string) []cli.Flag {
	return []cli.Flag{
		&cli.IntFlag{Name: "batch", Usage: "`N` images per batch", DefaultText: batch},
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "`N` goroutines that read and decode", DefaultText: "the number of cores"},
		&cli.IntFlag{Name: "size", Usage: "images in a batch are `N` pixels wide and high", DefaultText: size},
		&cli.StringFlag{Name: "augment", Usage: "augment with `OPS`, such as rrc:224,flip,normalize", DefaultText: ops},
		&cli.StringFlag{Name: "dtype", Usage: "`TYPE` of the pixels: float32 or uint8; without a trainer also float16, bfloat16 or uint16", DefaultText: dtype},
		&cli.StringFlag{Name: "decode", Value: "exact", Usage: "`MODE` of decoding JPEGs: exact (Pillow's pixels), or fast (at a reduced size if that is enough; pixels close to Pillow's)"},
		&cli.StringFlag{Name: "split", Usage: "read this `SPLIT`", DefaultText: "train if there is one, else all"},
		&cli.Uint64Flag{Name: "seed", Value: 1, Usage: "`N` decides the order, the augmentation and the trainer's weights"},
		&cli.StringFlag{Name: "order", Value: string(order.Full), Usage: "`ORDER` of the images: none, full (shuffled), block:BLOCK:WINDOW or balanced"},
		&cli.IntFlag{Name: "prefetch", Usage: "prefetch `N` batches", DefaultText: fmt.Sprint(reader.DefaultPrefetch)},
		&cli.StringFlag{Name: "cache", Usage: "keep images in memory, shared by all processes of a machine: `KIND` is encoded or decoded, or with a limit encoded:SIZE", DefaultText: "none"},
		&cli.StringFlag{Name: "on-error", Value: string(reader.Fail), Usage: "`POLICY` for bad images: fail, skip or substitute"},
		&cli.IntFlag{Name: "max-pixels", Usage: "an image of more than `N` pixels is bad", DefaultText: "Pillow's limit"},
	}
}

// loaderConfig reads loaderFlags. Options that the user leaves out are zero.
func loaderConfig(cc *cli.Context) (c reader.Config, err error) {
	if err := positive(cc, "batch", "workers", "size", "prefetch", "max-pixels"); err != nil {
		return c, err
	}
	if cc.IsSet("size") && cc.IsSet("augment") {
		return c, errors.New("--size and --augment exclude each other: write the size into the ops")
	}
	c = reader.Config{
		BatchSize: cc.Int("batch"), Workers: cc.Int("workers"), Prefetch: cc.Int("prefetch"), Seed: cc.Uint64("seed"),
		Split: cc.String("split"), DType: formats.DType(cc.String("dtype")), MaxPixels: cc.Int("max-pixels"),
	}
	parseFlag(cc, "order", &c.Order, order.Parse, &err)
	if err == nil && c.Order.Kind == order.Weighted {
		return c, fmt.Errorf("--order %s: there are no weights; balanced goes by the classes", c.Order)
	}
	parseFlag(cc, "on-error", &c.OnError, reader.ParseOnError, &err)
	parseFlag(cc, "cache", &c.Cache, reader.ParseCache, &err)
	var mode codec.Mode
	parseText(cc, "decode", &mode, &err)
	c.FastDecode = mode == codec.Fast
	if err == nil {
		c.Transforms, err = augment.Parse(cc.String("augment"))
	}
	return c, err
}

// positive reports the first of the flags that is set and less than 1.
func positive(cc *cli.Context, flags ...string) error {
	for _, name := range flags {
		if cc.IsSet(name) && cc.Int(name) < 1 {
			return fmt.Errorf("--%s %d: it must be at least 1", name, cc.Int(name))
		}
	}
	return nil
}
