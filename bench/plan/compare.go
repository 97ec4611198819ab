package plan

import (
	"context"
	"fmt"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// compared is how many images PSNR is computed from.
const compared = 64

// compare sets how near the trial's pixels are to those of the source, scaled to the same size.
func (e *exploration) compare(ctx context.Context, t *trial) error {
	if t.recipe.Encode.Encoding != formats.JPEG { // all others keep the pixels
		return nil
	}
	recipe, schema := t.recipe, e.src.ds.Meta().Schema
	recipe.Encode = codec.EncodeOptions{Encoding: formats.Raw}
	exact, err := preprocess.NewProcessor(recipe, schema)
	if err != nil {
		return err
	}
	defer exact.Close()
	decoder := codec.NewDecoder()
	defer decoder.Close()
	var in, out, packed formats.Sample
	var want, got pixel.Image
	var squares, values float64
	for _, k := range spread(firstN(t.dataset.Len()), compared) {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := guard.Do(func() error {
			if err := t.dataset.Read(int(k), &packed); err != nil {
				return err
			}
			at, err := formats.Find(e.src.ds, packed.Key)
			if err != nil {
				return err
			}
			if err := e.src.ds.Read(at, &in); err != nil {
				return err
			}
			if err := exact.Process(&in, &out); err != nil {
				return err
			}
			keep := codec.DecodeOptions{Color: pixel.ColorKeep}
			if err := decoder.DecodeValue(&want, &out.Values[schema.ImageIndex()], keep); err != nil {
				return err
			}
			return decoder.DecodeValue(&got, &packed.Values[t.dataset.Meta().Schema.ImageIndex()], keep)
		})
		if err == nil && len(want.Pix) != len(got.Pix) {
			err = fmt.Errorf("%d bytes of pixels beside %d", len(got.Pix), len(want.Pix))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", packed.Key, err)
		}
		for i, x := range want.Pix { // of 8 bits, as a JPEG has
			d := float64(x) - float64(got.Pix[i])
			squares += d * d
		}
		values += float64(len(want.Pix))
	}
	if squares > 0 {
		t.PSNR = 10 * math.Log10(255*255*values/squares)
	}
	return nil
}
