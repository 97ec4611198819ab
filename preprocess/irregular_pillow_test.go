package preprocess

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Damaged and irregular images are refused if Pillow refuses them, and otherwise have its pixels.
// DSCONV_ALL_IRREGULAR=1 tests all of them (minutes) instead of a sample.
func TestIrregularEqualsPillow(t *testing.T) {
	pixeltest.Exact(t)
	p := pixeltest.StartPillow(t)
	path := filepath.Join(t.TempDir(), "irregular")
	d := inner.NewDecoder()
	defer d.Close()
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	keep, deep := newProcessor(t, Recipe{}, schema), newProcessor(t, Recipe{Check: CheckDecode}, schema)
	step, known := 61, map[string]int{}
	if os.Getenv("DSCONV_ALL_IRREGULAR") != "" {
		step = 1
	}
	all := pixeltest.IrregularImages(t)
	for i := 0; i < len(all); i += step {
		o := all[i]
		if err := os.WriteFile(path, o.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		want := p.Ask(pixeltest.Ask{"op": "judge", "path": path})
		var m pixel.Image
		err := d.Decode(&m, &formats.Value{Data: o.Data}, inner.DecodeOptions{})
		found := verdict{o, d.Header(), want, err, d.Warning(), process(keep, o.Data), process(deep, o.Data)}
		what := found.difference(&m)
		if what == "" {
			continue
		}
		if why := found.reason(what); why != "" {
			known[why]++
			continue
		}
		t.Errorf("%s: %s: decode %v, keep %v, keep and decode %v, Pillow %q", o.Name, what, err, found.keep, found.deep, want.Error)
	}
	for why, n := range known {
		t.Logf("%d differ: %s", n, why)
	}
}

// process returns the error of passing the bytes through.
func process(p *Processor, data []byte) error {
	in := &formats.Sample{Key: "k", Values: []formats.Value{{Data: bytes.Clone(data), Encoding: formats.Sniff(data)}}}
	var out formats.Sample
	return p.Process(in, &out)
}

// verdict is what each decoder says of one image.
type verdict struct {
	pixeltest.IrregularImage
	header     pixel.Header
	pillow     pixeltest.Answer
	err        error // of decoding
	warning    string
	keep, deep error // of keeping it as it is
}

// difference says what differs from Pillow, "" if nothing does.
func (j *verdict) difference(m *pixel.Image) string {
	switch {
	case j.err != nil && j.pillow.Error == "":
		return "Pillow reads it"
	case j.err == nil && j.pillow.Error != "":
		return "Pillow raises"
	case j.err == nil && (!slices.Equal([]int{m.H, m.W, m.C}, j.pillow.Shape) || pixeltest.SHA(m) != j.pillow.SHA):
		return "pixels differ"
	case (j.deep == nil) != (j.err == nil):
		return "keep and decode"
	case (j.keep == nil) != (j.err == nil):
		return "keep"
	}
	return ""
}

// reason returns the accepted reason for a difference, "" if there is none.
func (j *verdict) reason(what string) string {
	enc := formats.Sniff(j.Data)
	unsupported := errors.Is(j.err, pixel.ErrUnsupported)
	switch {
	case unsupported && what != "Pillow raises":
		return "said to be unsupported; kept as it is with a warning"
	case what == "keep" && enc == formats.PNG && j.keep == nil:
		return "a PNG whose chunks are sound and whose pixels are not: --check decode finds it"
	case what == "pixels differ" && enc == formats.JPEG && j.warning != "" && strings.Contains(j.Name, "prog"):
		return "a progressive JPEG whose scans are missing, which each libjpeg guesses in its own way; there is a warning"
	case what == "Pillow reads it" && enc == formats.TIFF:
		return "TIFF is read more strictly"
	case what == "Pillow reads it" && errors.Is(j.err, pixel.ErrTruncated) && strings.Contains(j.err.Error(), "cannot hold"):
		return "a header claims far more than the file can hold"
	case what == "Pillow raises" && strings.Contains(j.Name, "fdAT"):
		return "an animation's frames after the first are not looked at"
	case what == "Pillow reads it" && strings.Contains(j.err.Error(), "GIF codes of 0 bits"):
		return "GIF codes of no bits"
	}
	return ""
}
