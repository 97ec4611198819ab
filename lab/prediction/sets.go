package main

import (
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"os"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/internal/synth"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// set is a folder of images with what is recommended for it.
type set struct {
	name, folder string
	size         int // side of the images in the batches
	augment      string
	// wanted are recommendations, each as flags of dsconv pack: the first of the list that plan offers is taken.
	wanted    [][]string
	encodings []codec.EncodeOptions // for plan, where what suits the images is not all that is wanted
}

// large are the recommendations for photos that are larger than the batches' images.
var large = [][]string{
	{""},
	{"--encode jpeg-tiled"},
	{"--resize shorter:256 --encode jpeg:90"},
	{"--resize cover:256x256 --encode raw", "--resize shorter:256 --encode raw"},
}

// set returns the set of that name, which is made if it is not there.
func (o *options) set(ctx context.Context, name string) (*set, error) {
	s := &set{name: name, folder: filepath.Join(o.work, name), size: 224, wanted: large}
	if name == "photos" {
		s.folder = o.images
		if s.folder == "" {
			return nil, errors.New("give a folder of photos with --images")
		}
		return s, nil
	}
	var write func(ctx context.Context, dir string) error
	switch name {
	case "demo":
		s.folder = fmt.Sprintf("%s-%d", s.folder, o.Demo)
		write = func(ctx context.Context, dir string) error {
			return synth.Write(ctx, dir, synth.Options{N: o.Demo, Seed: 1}, nil)
		}
	case "small":
		s.folder = fmt.Sprintf("%s-%d", s.folder, o.Small)
		s.size, s.augment = 32, "pad:4,randomcrop:32,flip,normalize"
		s.wanted = [][]string{{""}, {"--encode jpeg:90"}, {"--encode raw"}}
		s.encodings = []codec.EncodeOptions{{}, {Encoding: "jpeg", Quality: codec.DefaultQuality}, {Encoding: "raw"}}
		write = func(ctx context.Context, dir string) error { return writeSmall(ctx, dir, o.Small) }
	default:
		return nil, errors.New("choose demo, photos or small")
	}
	if _, err := os.Stat(s.folder); err == nil {
		return s, nil
	}
	return s, write(ctx, s.folder)
}

func (s *set) options() plan.Options {
	return plan.Options{Encodings: s.encodings, Format: "lmdb"}
}

// writeSmall writes n PNGs of 32x32 in ten class folders.
func writeSmall(ctx context.Context, dir string, n int) (err error) {
	const classes = 10
	partial := dir + ".partial"
	if err := os.RemoveAll(partial); err != nil {
		return err
	}
	var g errgroup.Group
	for class := range classes {
		g.Go(func() error {
			folder := filepath.Join(partial, fmt.Sprintf("class%d", class))
			if err := os.MkdirAll(folder, 0o755); err != nil {
				return err
			}
			for i := class; i < n; i += classes {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if err := writePNG(filepath.Join(folder, fmt.Sprintf("%06d.png", i)), i, class); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	return os.Rename(partial, dir)
}

// writePNG writes a gradient with some noise, which is about as hard to compress as a photo.
func writePNG(path string, seed, class int) error {
	const side = 32
	r := rand.New(rand.NewPCG(uint64(seed), 1))
	m := image.NewNRGBA(image.Rect(0, 0, side, side))
	down, right, blue := r.IntN(4), r.IntN(4), uint8(25*class)
	for y := range side {
		for x := range side {
			noise := r.IntN(16)
			m.SetNRGBA(x, y, color.NRGBA{R: uint8(down*y + noise), G: uint8(right*x + noise), B: blue + uint8(noise), A: 255})
		}
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(png.Encode(f, m), f.Close())
}
