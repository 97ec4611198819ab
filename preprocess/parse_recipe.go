package preprocess

import (
	"fmt"
	"strconv"

	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// ParseRecipe reads the result of Map. It ignores unknown options.
func ParseRecipe(m map[string]string) (r Recipe, err error) {
	parse := func(key string, set func(value string) error) {
		if value, ok := m[key]; ok && err == nil {
			if err = set(value); err != nil {
				err = fmt.Errorf("%s: %w", key, err)
			}
		}
	}
	parse("encode", func(v string) (err error) { r.Encode, err = codec.ParseEncode(v); return err })
	parse("resize", func(v string) (err error) { r.Resize, err = ParseResize(v); return err })
	parse("filter", func(v string) (err error) { r.Filter, err = pixel.ParseFilter(v); return err })
	parse("color", func(v string) (err error) { r.Color, err = pixel.ParseColor(v); return err })
	parse("exif", func(v string) (err error) { r.EXIF, err = ParseEXIF(v); return err })
	parse("decode", func(v string) (err error) { r.Fast, err = ParseDecode(v); return err })
	parse("compress", func(v string) (err error) { r.Zstd, err = ParseZstd(v); return err })
	parse("upscale", func(v string) (err error) { r.Upscale, err = strconv.ParseBool(v); return err })
	parse("max-pixels", func(v string) (err error) { r.MaxPixels, err = strconv.Atoi(v); return err })
	parse("strict", func(v string) (err error) { r.Strict, err = strconv.ParseBool(v); return err })
	parse("strip", func(v string) (err error) { r.Strip, err = strconv.ParseBool(v); return err })
	parse("check", func(v string) error {
		if r.Decode = v == "decode"; !r.Decode {
			return fmt.Errorf("%q: the only value is decode", v)
		}
		return nil
	})
	return r, err
}
