package plan

import (
	"context"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/bench/quality"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// compared is how many images PSNR and SSIM are computed from.
const compared = 64

// compare sets how near the trial's pixels are to those of the source, scaled to the same size.
func (e *exploration) compare(ctx context.Context, t *trial) error {
	if e.o.NoQuality || t.recipe.Encode.Encoding != formats.JPEG { // all others keep the pixels
		return nil
	}
	c, err := newComparison(e.src.ds, t.recipe)
	if err != nil {
		return err
	}
	defer c.close()
	for _, k := range spread(firstN(t.dataset.Len()), compared) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := c.add(t.dataset, int(k)); err != nil {
			return err
		}
	}
	if psnr := c.sum.PSNR(); !math.IsInf(psnr, 1) {
		t.psnr, t.ssim = psnr, c.sum.SSIM()
	}
	return nil
}

// comparison compares packed images with those that they were packed from.
type comparison struct {
	source  formats.Dataset
	exact   *preprocess.Processor // the recipe, without loss
	decoder *inner.Decoder
	sum     quality.Difference

	in, out, packed formats.Sample
	want, got       pixel.Image
	imageIn         int
}

func newComparison(source formats.Dataset, r preprocess.Recipe) (*comparison, error) {
	r.Encode = codec.EncodeOptions{Encoding: formats.Raw}
	exact, err := preprocess.NewProcessor(r, source.Meta().Schema)
	if err != nil {
		return nil, err
	}
	return &comparison{source: source, exact: exact, decoder: inner.NewDecoder(), imageIn: source.Meta().Schema.ImageIndex()}, nil
}

// add compares sample i of ds with the source's sample of the same key.
func (c *comparison) add(ds formats.Dataset, i int) error {
	return guard.Do(func() error {
		if err := ds.Read(i, &c.packed); err != nil {
			return err
		}
		at, err := formats.Find(c.source, c.packed.Key)
		if err != nil {
			return err
		}
		if err := c.source.Read(at, &c.in); err != nil {
			return err
		}
		if err := c.exact.Process(&c.in, &c.out); err != nil {
			return fmt.Errorf("%s: %w", c.packed.Key, err)
		}
		keep := inner.DecodeOptions{Color: pixel.ColorKeep}
		if err := c.decoder.Decode(&c.want, &c.out.Values[c.imageIn], keep); err != nil {
			return fmt.Errorf("%s: %w", c.packed.Key, err)
		}
		value := &c.packed.Values[ds.Meta().Schema.ImageIndex()]
		if err := c.decoder.Decode(&c.got, value, keep); err != nil {
			return fmt.Errorf("%s: %w", c.packed.Key, err)
		}
		return c.sum.Add(&c.want, &c.got)
	})
}

func (c *comparison) close() {
	c.exact.Close()
	c.decoder.Close()
}
