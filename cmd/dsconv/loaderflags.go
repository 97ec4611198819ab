package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/order"
)

// loaderFlags are those of every command that loads batches.
func loaderFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "order", Value: "full", Usage: "of the images: none, full (shuffled), block:`BLOCK:WINDOW`, balanced"},
		&cli.IntFlag{Name: "prefetch", Usage: "batches made ahead", DefaultText: "2"},
		&cli.StringFlag{Name: "cache", Usage: "keep images in memory, once a machine: encoded or decoded, with `:SIZE` up to that", DefaultText: "none"},
		&cli.StringFlag{Name: "on-error", Value: "fail", Usage: "what becomes of a bad image: fail, skip or substitute"},
		&cli.IntFlag{Name: "max-pixels", Usage: "an image of more than `N` pixels is bad", DefaultText: "Pillow's limit"},
	}
}

// setLoader sets what loaderFlags say.
func setLoader(cc *cli.Context, c *reader.Config) (err error) {
	if cc.IsSet("prefetch") && cc.Int("prefetch") < 1 {
		return fmt.Errorf("--prefetch %d: it must be at least 1", cc.Int("prefetch"))
	}
	if cc.IsSet("max-pixels") && cc.Int("max-pixels") < 1 {
		return fmt.Errorf("--max-pixels %d: it must be at least 1", cc.Int("max-pixels"))
	}
	c.Prefetch, c.MaxPixels = cc.Int("prefetch"), cc.Int("max-pixels")
	if c.Order, err = order.Parse(cc.String("order")); err != nil {
		return err
	}
	if c.Order.Kind == order.Weighted {
		return fmt.Errorf("--order %s: there are no weights; balanced goes by the classes", c.Order)
	}
	if c.OnError, err = reader.ParseOnError(cc.String("on-error")); err != nil {
		return err
	}
	c.Cache, err = parseCache(cc.String("cache"))
	return err
}

// parseCache reads "encoded" or "decoded:8GB"; "" is none.
func parseCache(text string) (c reader.Cache, err error) {
	kind, size, limited := strings.Cut(text, ":")
	switch c.Kind = reader.CacheKind(kind); c.Kind {
	case reader.NoCache, reader.Encoded, reader.Decoded:
	default:
		return c, fmt.Errorf("--cache %s: wanted %s or %s, or one of them with :SIZE", text, reader.Encoded, reader.Decoded)
	}
	if limited {
		c.Limit, err = convert.ParseSize(size)
	}
	return c, err
}
