package main

import (
	"context"
	"errors"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// side is one of two datasets that are compared.
type side struct {
	sources []string
	own     bool // dsconv wrote it
	formats.Dataset
}

func newSide(ctx context.Context, sources ...string) *side {
	s := &side{sources: sources}
	if len(sources) == 1 {
		f, err := detectFormat(ctx, sources[0])
		_, writable := f.(formats.WritableFormat)
		s.own = err == nil && writable // opening it returns the error
	}
	return s
}

// openPair opens two datasets; of sources is made one. Folders and datasets of other programs are read by the flags, else as the
// dataset beside them was packed.
func openPair(cc *cli.Context, c *console, sources []string, other string) (a, b *side, err error) {
	a, b = newSide(cc.Context, sources...), newSide(cc.Context, other)
	first, second := b, a
	if a.own {
		first, second = a, b
	}
	if err := first.open(cc, c, nil); err != nil {
		return nil, nil, err
	}
	if err := second.open(cc, c, first); err != nil {
		return nil, nil, errors.Join(err, first.Close())
	}
	return a, b, nil
}

// open opens s beside the dataset that is compared with it; nil if that is not open yet.
func (s *side) open(cc *cli.Context, c *console, beside *side) (err error) {
	var cfg folder.Config
	var read formats.ReadOptions
	switch {
	case s.own:
	case beside != nil && beside.own:
		if cfg, err = packedConfig(cc, beside.sources[0], beside.Meta(), s.sources...); err != nil {
			return err
		}
		cfg.Patterns = parsePatterns(cc)
		read, err = packedReadOptions(cc, beside.Meta().Recipe)
	default:
		if cfg, err = sourceConfig(cc, s.sources[0]); err != nil {
			return err
		}
		read, err = readOptions(cc)
	}
	if err != nil {
		return err
	}
	cfg.Stdin = c.in
	s.Dataset, err = openSourcesWith(cc.Context, s.sources, cfg, read)
	return err
}
