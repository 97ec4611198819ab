// Package parity certifies that dsconv's pixels are Pillow's. It makes dsconv's images of each
// sample on every path that pixels take: the decoding of the source, the recipe's resize, what is
// stored, and the crops that a reader takes of it. A Python process makes the same images with
// Pillow, and with torchvision where that is installed, compares them and writes the certificate:
// python/src/dsconv/_parity.
//
// The default paths differ by 0. What was asked for by name and is not exact, such as a
// lossy encoding, is measured.
package parity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Options of Run. The zero value is usual.
type Options struct {
	Python  string // the interpreter that has Pillow, "" is python3
	Sample  int    // how many images are chosen; 0 is all
	Workers int    // goroutines here and threads in Python; the number of cores if it is below 1
	// GPU makes the paths gpu, if the dataset was packed with one. It is not closed.
	GPU     *gpudecode.GPU
	timeout time.Duration // how long one image may take, 0 is two minutes: Python may read torch before the first
}

// seed decides which images are chosen, and the crops.
const seed uint64 = 0

// errUnmatched is returned when the source has none of the chosen samples.
var errUnmatched = errors.New("the source has none of the dataset's samples: is it what the dataset was packed from?")

// run is one Run.
type run struct {
	python   *process
	src, dst formats.Dataset
	pairs    []pair
	recipe   preprocess.Recipe // the dataset's, with the exact decoder
	resize   preprocess.Recipe // of the path resize: raw pixels
	gpu      *gpuPath          // nil if the dataset was not packed on a GPU, or here is none
}

// Run compares the dataset dst, which was packed from src, with what Pillow makes of the same
// images. An error is about the comparison itself; a difference is in the certificate, which
// does not depend on the number of workers.
func Run(ctx context.Context, src, dst formats.Dataset, o Options) (*Result, error) {
	recipe, err := preprocess.ParseRecipe(dst.Meta().Recipe)
	if err != nil {
		return nil, fmt.Errorf("the dataset's recipe: %w", err)
	}
	packed := recipe
	recipe.Decoder, recipe.Device = preprocess.DecoderCPU, preprocess.Device{} // gpu is a path of its own
	recipe.Decode, recipe.Strict = codec.Exact, false                          // fast is one too; irregular files are compared
	chosen := choose(dst.Len(), o.Sample)
	pairs, missing, err := match(src, dst, chosen)
	if err != nil {
		return nil, err
	}
	if o.Workers < 1 {
		o.Workers = parallel.Cores()
	}
	o.Python, o.timeout = cmp.Or(o.Python, "python3"), cmp.Or(o.timeout, 2*time.Minute)
	resize := resizing(recipe)
	gpu, err := newGPUPath(packed, resize, o.GPU)
	if err != nil {
		return nil, err
	}
	defer gpu.close()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	p, err := startPython(ctx, cancel, o)
	if err != nil {
		return nil, err
	}
	r := &run{python: p, src: src, dst: dst, pairs: pairs, recipe: recipe, resize: resize, gpu: gpu}
	p.send(map[string]any{
		"samples": dst.Len(), "chosen": len(chosen), "missing": missing, "seed": seed, "workers": o.Workers,
		"recipe": dst.Meta().Recipe, "resize": r.described(), "max_pixels": cmp.Or(recipe.MaxPixels, pixel.DefaultMaxPixels),
		"gpu": r.gpu.described(),
		"dsconv": map[string]string{
			"decoder": jpeg.DecoderName, "decoder_version": jpeg.DecoderVersion(), "resampler": resample.ResamplerName,
		},
	}, nil)
	err = parallel.Each(ctx, len(pairs), min(o.Workers, len(pairs)), func() (func(k int) error, func(), error) {
		m, err := r.newMaker()
		if err != nil {
			return nil, nil, err
		}
		return func(k int) error {
			key := pairs[k].key
			return p.compare(k, key, func() error {
				return guard.For(fmt.Sprintf("key %q", key), func() error { return m.sample(ctx, k) })
			})
		}, m.close, nil
	})
	return p.finish(err)
}

// pair is a sample of the dataset and the same sample in the source.
type pair struct {
	key  string
	dst  int      // index in the dataset
	src  int      // index in the source
	hash [16]byte // of the source's file when it was packed; zero if it cannot be compared
}

// choose gives the indices of the samples that are compared, in order: all if sample is 0.
func choose(n, sample int) []int {
	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	if sample > 0 {
		chosen = chosen[:min(sample, n)]
	}
	slices.Sort(chosen)
	return chosen
}

// match finds each chosen sample in the source: by path, else by key. missing are the keys of those
// that are not there.
func match(src, dst formats.Dataset, chosen []int) (pairs []pair, missing []string, err error) {
	missing = []string{}
	infos := make([]formats.Info, len(chosen))
	for k, i := range chosen {
		if infos[k], err = dst.Info(i); err != nil {
			return nil, nil, err
		}
	}
	at, err := formats.Locate(src, infos)
	if err != nil {
		return nil, nil, err
	}
	for k, in := range infos {
		if at[k] < 0 {
			missing = append(missing, in.Key)
			continue
		}
		p := pair{key: in.Key, dst: chosen[k], src: at[k]}
		if src.Meta().Format == "folder" {
			p.hash = in.Source.Hash
		}
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		return nil, nil, errUnmatched
	}
	return pairs, missing, nil
}
