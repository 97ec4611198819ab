package codec

import (
	"bytes"
	"errors"
	"fmt"
	stdjpeg "image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/preprocess/pixeltest"
)

// tiledAs transcodes data in every build and in pure Go, which must give the same bytes, and
// holds all that the output promises. It is nil if data is not tiled.
func tiledAs(t testing.TB, tr *jpeg.Transcoder, data []byte, interval int, strip bool) []byte {
	t.Helper()
	out, err := tr.Append([]byte("before"), data, interval, strip)
	var not *jpeg.NotTiledError
	if errors.As(err, &not) {
		if string(out) != "before" {
			t.Fatalf("%d bytes in spite of %v", len(out), err)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, []byte("before")) {
		t.Fatal("what was there is gone")
	}
	out = out[len("before"):]
	sameCoefficients(t, data, out)
	if unusual, err := Structure(out, formats.JPEG); unusual != "" || err != nil {
		t.Fatalf("structure: %q, %v", unusual, err)
	}
	again, err := tr.Append(nil, out, interval, strip)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("what is tiled is tiled otherwise: %v", err)
	}
	return out
}

// sameCoefficients compares two JPEGs by the pure-Go reader, which refuses a few odd ones that
// libjpeg reads in silence: those have the same pixels.
func sameCoefficients(t testing.TB, data, out []byte) {
	t.Helper()
	var from, to jpeg.JpegBlocks
	if err := to.Read(out); err != nil {
		t.Fatal(err)
	}
	if from.Read(data) == nil && !from.SameAs(&to) {
		t.Fatal("other coefficients")
	}
	if to.Progressive || to.Interval == 0 {
		t.Fatalf("progressive %v, interval %d", to.Progressive, to.Interval)
	}
}

func samePixels(t testing.TB, d *Decoder, data, out []byte) {
	t.Helper()
	var want, got pixel.Image
	for _, o := range []DecodeOptions{{}, {Color: pixel.ColorKeep}, {ApplyOrientation: true}} {
		err := d.Decode(&want, &formats.Value{Data: data}, o)
		warning := d.Warning()
		if err := errors.Join(err, d.Decode(&got, &formats.Value{Data: out}, o)); err != nil {
			t.Fatal(err)
		}
		if warning != "" || d.Warning() != "" {
			t.Fatalf("warnings %q, %q", warning, d.Warning())
		}
		if !slices.Equal(want.Pix, got.Pix) || want.H != got.H || want.W != got.W {
			t.Fatalf("other pixels with %+v", o)
		}
	}
}

func decodeOne(d *Decoder, data []byte) (*pixel.Image, error) {
	var m pixel.Image
	return &m, d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{})
}

func TestTranscodeSound(t *testing.T) {
	d, tr := NewDecoder(), jpeg.NewTranscoder()
	defer d.Close()
	defer tr.Close()
	for name, data := range pixeltest.SoundJPEGs(t) {
		for _, interval := range []int{1, 3, 8, 65535} {
			for _, strip := range []bool{false, true} {
				out := tiledAs(t, tr, data, interval, strip)
				_, err := tr.Append(nil, data, interval, strip)
				why := map[string]string{"arithmetic.jpg": jpeg.NotArithmetic, "arithprog.jpg": jpeg.NotArithmetic}[name]
				var not *jpeg.NotTiledError
				if why != "" && (!errors.As(err, &not) || not.Reason != why) || why == "" && err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if out != nil {
					samePixels(t, d, data, out)
				}
			}
		}
	}
}

// Every odd JPEG either keeps its bytes or has the same pixels.
func TestTranscodeOdd(t *testing.T) {
	d, tr := NewDecoder(), jpeg.NewTranscoder()
	defer d.Close()
	defer tr.Close()
	step, tiled := 7, 0
	if os.Getenv("DSCONV_EVERY_ODD") != "" {
		step = 1
	}
	reasons := map[string]int{}
	all := pixeltest.Irregular(t)
	for i := 0; i < len(all); i += step {
		if _, h, err := Inspect(all[i].Data); err != nil || CheckSize(h, 1<<22) != nil {
			continue
		}
		out := tiledAs(t, tr, all[i].Data, 2, false)
		if out == nil {
			_, err := tr.Append(nil, all[i].Data, 2, false)
			var not *jpeg.NotTiledError
			if errors.As(err, &not) {
				reasons[not.Reason]++
			}
			continue
		}
		if _, err := decodeOne(d, all[i].Data); err != nil && jpeg.DecoderName != "libjpeg-turbo" {
			continue // image/jpeg reads less
		}
		tiled++
		t.Run(all[i].Name, func(t *testing.T) { samePixels(t, d, all[i].Data, out) })
	}
	t.Logf("%d tiled, %v", tiled, reasons)
	if tiled == 0 || len(reasons) < 4 {
		t.Errorf("%d tiled, %v", tiled, reasons)
	}
}

// Both twins give the same bytes, or both none.
func TestTranscodeTwins(t *testing.T) {
	list := pixeltest.SoundJPEGs(t)
	e := NewEncoder()
	defer e.Close()
	for _, size := range [][2]int{{1, 1}, {500, 375}, {131, 67}} {
		v := formats.Value{}
		if err := e.Encode(&v, pixeltest.TestImage(size[0], size[1], 3, formats.Uint8), Encode{Encoding: formats.JPEG, Quality: 96}, 0); err != nil {
			t.Fatal(err)
		}
		list[fmt.Sprint(size)] = v.Data
	}
	var twin jpeg.GoTranscoder
	var built jpeg.JpegTranscoder
	defer built.Close()
	for name, data := range list {
		p, err := jpeg.Split(data)
		if err != nil {
			t.Fatal(err)
		}
		if p.Mark > jpeg.MarkSOF2 {
			continue
		}
		want, err := built.Append(nil, data, []byte{0xFF, 0xFE, 0, 3, 'x'}, 4)
		got, errGo := twin.Append(nil, data, []byte{0xFF, 0xFE, 0, 3, 'x'}, 4)
		if err != nil || errGo != nil || !bytes.Equal(want, got) {
			t.Errorf("%s: %d bytes, %v; in Go %d bytes, %v", name, len(want), err, len(got), errGo)
		}
	}
}

func TestTranscodeRefuses(t *testing.T) {
	tr := jpeg.NewTranscoder()
	defer tr.Close()
	plain := pixeltest.SoundJPEGs(t)["444.jpg"]
	mpf := slices.Concat(plain[:2], pixeltest.SegmentOf(0xE2, []byte("MPF\x00more")), plain[2:], plain)
	for name, c := range map[string]struct {
		data []byte
		why  string
	}{
		"PNG":      {[]byte(pngMagic), jpeg.NotJPEG},
		"nothing":  {nil, jpeg.NotJPEG},
		"cut":      {plain[:len(plain)-9], jpeg.NotSound},
		"header":   {plain[:9], jpeg.NotSound},
		"MCU":      {bigMCU(t, plain), jpeg.NotMCU},
		"lossless": {pixeltest.Changed(plain, frameOf(t, plain)+1, 0xC3), jpeg.NotBaseline},
		"pictures": {mpf, jpeg.NotPictures},
		"between":  {betweenScans(t), jpeg.NotBetween},
		"fill":     {slices.Concat(plain[:2], []byte{0xFF}, plain[2:]), jpeg.NotUsual},
		"garbage":  {slices.Concat(plain[:len(plain)-2], make([]byte, 99), plain[len(plain)-2:]), jpeg.NotSound},
	} {
		_, err := tr.Append(nil, c.data, 8, false)
		var not *jpeg.NotTiledError
		if !errors.As(err, &not) || not.Reason != c.why {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, data := range map[string][]byte{"pictures": mpf, "between": betweenScans(t)} {
		if out := tiledAs(t, tr, data, 8, true); out == nil {
			t.Errorf("%s: stripped, it is not tiled", name)
		}
	}
}

func frameOf(t *testing.T, data []byte) int {
	t.Helper()
	for _, p := range pixeltest.PartsOf(data) {
		if jpeg.IsSOF(p.Mark) {
			return p.At
		}
	}
	t.Fatal("no frame")
	return 0
}

// bigMCU has 4x2 blocks of the first component and 2 of each other.
func bigMCU(t *testing.T, data []byte) []byte {
	at := frameOf(t, data) + 10
	return pixeltest.Changed(pixeltest.Changed(pixeltest.Changed(data, at+1, 0x42), at+4, 0x21), at+7, 0x21)
}

// betweenScans has a segment of metadata before the second scan.
func betweenScans(t *testing.T) []byte {
	data, scans := pixeltest.SoundJPEGs(t)["scans.jpg"], 0
	for _, p := range pixeltest.PartsOf(data) {
		if p.Mark == jpeg.MarkSOS {
			if scans++; scans == 2 {
				return slices.Concat(data[:p.At], pixeltest.SegmentOf(0xE5, []byte("between")), data[p.At:])
			}
		}
	}
	t.Fatal("no second scan")
	return nil
}

// Metadata stay in order, bytes behind the image too; strip keeps what colours and the
// orientation need.
func TestTranscodeMetadata(t *testing.T) {
	tr, d := jpeg.NewTranscoder(), NewDecoder()
	defer tr.Close()
	defer d.Close()
	segments := func(data []byte) (list []string) {
		for _, p := range pixeltest.PartsOf(data) {
			if jpeg.MayBeShort(p.Mark) {
				list = append(list, string(data[p.At:p.Data]))
			}
		}
		return list
	}
	plain := pixeltest.WithOrientation(pixeltest.SoundJPEGs(t)["420.jpg"], 6)
	icc := func(n byte) []byte { return append([]byte("ICC_PROFILE\x00"), n, 2, 'i', 'c', 'c') }
	data := slices.Concat(plain[:2], pixeltest.SegmentOf(0xE2, icc(1)), pixeltest.SegmentOf(0xE2, icc(2)), pixeltest.SegmentOf(0xFE, []byte("said")),
		pixeltest.SegmentOf(0xE1, []byte("http://ns.adobe.com/xap/1.0/\x00<x/>")), pixeltest.SegmentOf(0xED, bytes.Repeat([]byte("8"), 65533)), plain[2:], []byte("behind"))
	kept := tiledAs(t, tr, data, 8, false)
	if want := segments(data); len(want) < 7 || !slices.Equal(segments(kept), want) || !bytes.HasSuffix(kept, []byte("\xff\xd9behind")) {
		t.Errorf("kept %d segments of %d", len(segments(kept)), len(want))
	}
	samePixels(t, d, data, kept)
	stripped := tiledAs(t, tr, data, 8, true)
	samePixels(t, d, data, stripped)
	if list := segments(stripped); len(list) != 2 || list[0][:11] != "\xff\xe0\x00\x10JFIF\x00\x01\x01" || bytes.Contains(stripped, []byte("behind")) {
		t.Errorf("stripped: %q", segments(stripped))
	}
	if _, h, err := Inspect(stripped); err != nil || h.Orientation != 6 {
		t.Errorf("orientation %d, %v", h.Orientation, err)
	}
	cmyk := tiledAs(t, tr, pixeltest.SoundJPEGs(t)["cmyk.jpg"], 8, true)
	if list := segments(cmyk); len(list) != 1 || list[0][4:9] != "Adobe" {
		t.Errorf("CMYK stripped: %q", list)
	}
}

// Sizes and samplings of all kinds by Pillow: pixels are the same for it too, without a warning.
func TestTranscodeEqualsPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	tr, d := jpeg.NewTranscoder(), NewDecoder()
	defer tr.Close()
	defer d.Close()
	names := p.Ask(pixeltest.Ask{"op": "jpegs", "dir": dir}).Names
	// Pillow does not write 4:4:0 and 4:1:1, which have as many blocks an MCU.
	rare := map[string]struct {
		factors byte
		w, h    int
	}{"422.jpg": {0x12, 8, 16}, "420.jpg": {0x41, 32, 8}}
	if len(names) < 100 {
		t.Errorf("only %d", len(names))
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if s, ok := rare[name[max(0, len(name)-7):]]; ok && frameAt(data) > 0 {
			reframe(data, s.factors, s.w, s.h)
			if err := os.WriteFile(path, data, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want := p.Ask(pixeltest.Ask{"op": "read", "path": path})
		for _, strip := range []bool{false, true} {
			out := tiledAs(t, tr, data, 4, strip)
			if out == nil {
				t.Errorf("%s is not tiled", name)
				continue
			}
			samePixels(t, d, data, out)
			if err := os.WriteFile(path, out, 0o666); err != nil {
				t.Fatal(err)
			}
			got := p.Ask(pixeltest.Ask{"op": "read", "path": path, "strip": strip})
			if strip {
				want.Names = want.Names[:len(got.Names)]
			}
			if got.Error != "" || got.SHA != want.SHA || !slices.Equal(got.Names, want.Names) {
				t.Errorf("%s, strip %v: %+v and %+v", name, strip, got, want)
			}
		}
	}
}

func TestTranscodePhotos(t *testing.T) {
	tr, d := jpeg.NewTranscoder(), NewDecoder()
	defer tr.Close()
	defer d.Close()
	list := pixeltest.Photos(t)
	step := max(1, len(list)/50)
	before, after := 0, 0
	for i := 0; i < len(list); i += step {
		data := pixeltest.ReadValue(t, list[i]).Data
		out := tiledAs(t, tr, data, DefaultInterval, false)
		if out == nil {
			continue
		}
		samePixels(t, d, data, out)
		before, after = before+len(data), after+len(out)
	}
	if t.Logf("%d bytes become %d: %.4f", before, after, float64(after)/float64(before)); after > before*102/100 {
		t.Error("more than 2 % larger")
	}
}

// Any data keep their bytes or have the same coefficients and pixels.
func FuzzTranscode(f *testing.F) {
	for _, data := range pixeltest.SoundJPEGs(f) {
		f.Add(data, uint16(3), false)
	}
	var b bytes.Buffer
	if err := stdjpeg.Encode(&b, pixel.ToStdlib(pixeltest.TestImage(40, 30, 3, formats.Uint8)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint16(1), true)
	tr, d := jpeg.NewTranscoder(), NewDecoder()
	f.Cleanup(tr.Close)
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte, interval uint16, strip bool) {
		_, h, err := Inspect(data)
		if err != nil || CheckSize(h, 1<<20) != nil {
			return
		}
		out := tiledAs(t, tr, data, max(1, int(interval)), strip)
		if _, err := decodeOne(d, data); out == nil || err != nil && jpeg.DecoderName != "libjpeg-turbo" {
			return // image/jpeg reads less
		}
		samePixels(t, d, data, out)
	})
}

func BenchmarkTranscode(b *testing.B) {
	e, tr := NewEncoder(), jpeg.NewTranscoder()
	defer e.Close()
	defer tr.Close()
	var v formats.Value
	if err := e.Encode(&v, pixeltest.TestImage(500, 375, 3, formats.Uint8), Encode{Encoding: formats.JPEG, Quality: 90}, 0); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(v.Data)))
	var out []byte
	for b.Loop() {
		var err error
		if out, err = tr.Append(out[:0], v.Data, DefaultInterval, false); err != nil {
			b.Fatal(err)
		}
	}
}
