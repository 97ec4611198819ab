package formats_test

import (
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Each image that dsconv reads has an Encoding; everything else has a name, or none.
func TestContent(t *testing.T) {
	for data, want := range map[string]string{
		"":                             "empty",
		"\x00\x00\x00\x18ftypheic\x00": "HEIC",
		"\x00\x00\x00\x1cftypmif1\x00": "HEIF",
		"\x00\x00\x00\x1cftypavif\x00": "AVIF",
		"\x00\x00\x00\x1cftypisom\x00": "video",
		"\x1f\x8b\x08\x00":             "gzip",
		"P6\n2 2\n255\n":               "PPM",
		"P7x":                          "text",
		"<!DOCTYPE HTML><html>":        "HTML",
		"\ufeff\n <html lang=en>":      "HTML",
		"<?xml version='1.0'?><Error>": "XML",
		"<?xml version='1.0'?><svg>":   "SVG",
		"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n": "Git LFS",
		"../cat/1.jpg":                        "a link",
		"../.git/annex/objects/0/1/a.jpg\n":   "a link",
		"some words\n":                        "text",
		"caf\xe9 au lait, s'il vous pla\xeet": "text",
		"path,label\n1.jpg,cat\n":             "text",
		"\x00\x01\x02\x03":                    "",
		"\xde\xad\xbe\xef\xfa\xce":            "",
	} {
		got := formats.Content([]byte(data))
		if !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("%q is %q, not %q", data, got, want)
		}
		if enc := formats.Sniff([]byte(data)); enc != "" {
			t.Errorf("%q is %s too", data, enc)
		}
	}
}
