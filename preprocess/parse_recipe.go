package preprocess

import (
	"encoding"
	"fmt"
	"strconv"
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
	text := func(key string, to encoding.TextUnmarshaler) {
		parse(key, func(v string) error { return to.UnmarshalText([]byte(v)) })
	}
	text("encode", &r.Encode)
	text("resize", &r.Resize)
	text("filter", &r.Filter)
	text("color", &r.Color)
	text("exif", &r.EXIF)
	text("decode", &r.Decode)
	text("compress", &r.Zstd)
	parse("upscale", func(v string) (err error) { r.Upscale, err = strconv.ParseBool(v); return err })
	parse("max-pixels", func(v string) (err error) { r.MaxPixels, err = strconv.Atoi(v); return err })
	parse("strict", func(v string) (err error) { r.Strict, err = strconv.ParseBool(v); return err })
	parse("strip", func(v string) (err error) { r.Strip, err = strconv.ParseBool(v); return err })
	text("check", &r.Check)
	if m[decoderKey] == string(DecoderGPU) {
		r.Decoder, r.Device = DecoderGPU, recordedDevice(m)
	}
	return r, err
}

// CheckPixels returns an error if this build would produce other pixels than the one that recorded m, of which r was parsed.
func (r Recipe) CheckPixels(m map[string]string) error {
	now := r.Map()
	for _, key := range []string{decoderKey, "resampler"} {
		if is, ok := now[key]; ok && m[key] != is {
			return fmt.Errorf("it was packed with the %s %s, but this dsconv has %s", key, m[key], is)
		}
	}
	return nil
}
