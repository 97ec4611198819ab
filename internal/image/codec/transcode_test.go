//go:build cgo

package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	stdjpeg "image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
)

// tiledAs transcodes data and checks the output except for its pixels. It returns nil if data cannot be
// tiled.
func tiledAs(t testing.TB, tr *jpeg.Transcoder, data []byte, interval int, strip bool) []byte {
	t.Helper()
	out, err := tr.Append([]byte("before"), data, interval, strip)
	var not *jpeg.NotTiledError
	if errors.As(err, &not) {
		if string(out) != "before" {
			t.Fatalf("%d bytes despite %v", len(out), err)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(out, []byte("before")) {
		t.Fatal("dst was not appended to")
	}
	out = out[len("before"):]
	checkTiles(t, out)
	if irregular, err := CheckStructure(out, formats.JPEG); irregular != "" || err != nil {
		t.Fatalf("structure: %q, %v", irregular, err)
	}
	again, err := tr.Append(nil, out, interval, strip)
	if err != nil || !bytes.Equal(again, out) {
		t.Fatalf("transcoding again changes the bytes: %v", err)
	}
	return out
}

// checkTiles checks that a JPEG is one sequential scan of all components with restart markers at its
// interval.
func checkTiles(t testing.TB, data []byte) {
	t.Helper()
	var mark byte
	var frame, scan []byte
	interval, i := 0, 2
	for scan == nil {
		m, next, ok := jpeg.NextMarker(data, i)
		body, end, err := jpeg.Segment(data, next)
		if !ok || err != nil {
			t.Fatalf("marker %#x at %d: %v", m, i, err)
		}
		switch i = end; {
		case jpeg.IsSOF(m):
			mark, frame = m, body
		case m == jpeg.MarkDRI:
			interval = int(binary.BigEndian.Uint16(body))
		case m == jpeg.MarkSOS:
			scan = body
		}
	}
	if mark > jpeg.MarkSOF0+1 || interval == 0 || scan[0] != frame[5] || !bytes.Equal(scan[len(scan)-3:], []byte{0, 63, 0}) {
		t.Fatalf("frame %#x, interval %d, scan % x", mark, interval, scan)
	}
	h, v := 1, 1
	for c := 7; frame[5] > 1 && c < len(frame); c += 3 {
		h, v = max(h, int(frame[c]>>4)), max(v, int(frame[c]&15))
	}
	row := (int(binary.BigEndian.Uint16(frame[3:])) + 8*h - 1) / (8 * h)
	mcus := row * ((int(binary.BigEndian.Uint16(frame[1:])) + 8*v - 1) / (8 * v))
	if row%interval != 0 && interval%row != 0 {
		t.Fatalf("interval %d in rows of %d MCUs", interval, row)
	}
	for n := range (mcus - 1) / interval {
		if i = nextInScan(data, i); data[i+1] != jpeg.MarkRST0+byte(n&7) {
			t.Fatalf("marker %#x instead of restart marker %d", data[i+1], n)
		}
		i += 2
	}
	if i = nextInScan(data, i); data[i+1] != jpeg.MarkEOI {
		t.Fatalf("marker %#x after the last restart marker", data[i+1])
	}
}

// nextInScan finds the next marker in or after entropy-coded data.
func nextInScan(data []byte, i int) int {
	for data[i] != 0xFF || data[i+1] == 0 {
		i++
	}
	return i
}

func TestTranscodeIntact(t *testing.T) {
	d, tr := NewDecoder(), new(jpeg.Transcoder)
	defer d.Close()
	defer tr.Close()
	for name, data := range pixeltest.IntactJPEGs(t) {
		for _, interval := range []int{1, 3, 8, 65535} {
			for _, strip := range []bool{false, true} {
				out := tiledAs(t, tr, data, interval, strip)
				_, err := tr.Append(nil, data, interval, strip)
				why := map[string]string{"arithmetic.jpg": jpeg.ReasonArithmetic, "arithprog.jpg": jpeg.ReasonArithmetic}[name]
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

// Every irregular JPEG either keeps its bytes or has the same pixels.
func TestTranscodeIrregular(t *testing.T) {
	d, tr := NewDecoder(), new(jpeg.Transcoder)
	defer d.Close()
	defer tr.Close()
	step, tiled := 7, 0
	if os.Getenv("DSCONV_ALL_IRREGULAR") != "" {
		step = 1
	}
	reasons := map[string]int{}
	all := pixeltest.IrregularImages(t)
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
		tiled++
		t.Run(all[i].Name, func(t *testing.T) { samePixels(t, d, all[i].Data, out) })
	}
	t.Logf("%d tiled, %v", tiled, reasons)
	if tiled == 0 || len(reasons) < 4 {
		t.Errorf("%d tiled, %v", tiled, reasons)
	}
}

func TestTranscodeRefuses(t *testing.T) {
	tr := new(jpeg.Transcoder)
	defer tr.Close()
	plain := pixeltest.IntactJPEGs(t)["444.jpg"]
	mpf := slices.Concat(plain[:2], pixeltest.SegmentOf(0xE2, []byte("MPF\x00more")), plain[2:], plain)
	for name, c := range map[string]struct {
		data []byte
		why  string
	}{
		"PNG":      {[]byte(pngMagic), jpeg.ReasonNotJPEG},
		"nothing":  {nil, jpeg.ReasonNotJPEG},
		"cut":      {plain[:len(plain)-9], jpeg.ReasonDamaged},
		"header":   {plain[:9], jpeg.ReasonDamaged},
		"MCU":      {bigMCU(t, plain), jpeg.ReasonMCU},
		"lossless": {pixeltest.Changed(plain, frameOf(t, plain)+1, 0xC3), jpeg.ReasonNotBaseline},
		"pictures": {mpf, jpeg.ReasonMultiPicture},
		"between":  {betweenScans(t), jpeg.ReasonMetadata},
		"fill":     {slices.Concat(plain[:2], []byte{0xFF}, plain[2:]), jpeg.ReasonIrregular},
		"garbage":  {slices.Concat(plain[:len(plain)-2], make([]byte, 99), plain[len(plain)-2:]), jpeg.ReasonDamaged},
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
	for _, p := range pixeltest.SplitJPEG(data) {
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
	data, scans := pixeltest.IntactJPEGs(t)["scans.jpg"], 0
	for _, p := range pixeltest.SplitJPEG(data) {
		if p.Mark == jpeg.MarkSOS {
			if scans++; scans == 2 {
				return slices.Concat(data[:p.At], pixeltest.SegmentOf(0xE5, []byte("between")), data[p.At:])
			}
		}
	}
	t.Fatal("no second scan")
	return nil
}

// Metadata stay in order, also bytes after the image; strip keeps what decides colours and orientation.
func TestTranscodeMetadata(t *testing.T) {
	tr, d := new(jpeg.Transcoder), NewDecoder()
	defer tr.Close()
	defer d.Close()
	segments := func(data []byte) (list []string) {
		for _, p := range pixeltest.SplitJPEG(data) {
			if jpeg.IsMetadata(p.Mark) {
				list = append(list, string(data[p.At:p.Data]))
			}
		}
		return list
	}
	plain := pixeltest.WithOrientation(pixeltest.IntactJPEGs(t)["420.jpg"], 6)
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
	cmyk := tiledAs(t, tr, pixeltest.IntactJPEGs(t)["cmyk.jpg"], 8, true)
	if list := segments(cmyk); len(list) != 1 || list[0][4:9] != "Adobe" {
		t.Errorf("CMYK stripped: %q", list)
	}
}

// JPEGs by Pillow of many sizes and samplings: Pillow reads the same pixels from the output, without a
// warning.
func TestTranscodeEqualsPillow(t *testing.T) {
	p := pixeltest.StartPillow(t)
	dir := t.TempDir()
	tr, d := new(jpeg.Transcoder), NewDecoder()
	defer tr.Close()
	defer d.Close()
	names := p.Ask(pixeltest.Ask{"op": "jpegs", "dir": dir}).Names
	// Pillow does not write 4:4:0 and 4:1:1, which have the same number of blocks an MCU.
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
	tr, d := new(jpeg.Transcoder), NewDecoder()
	defer tr.Close()
	defer d.Close()
	list := pixeltest.Photos(t)
	step := max(1, len(list)/50)
	before, after := 0, 0
	for i := 0; i < len(list); i += step {
		data := pixeltest.ReadValue(t, list[i]).Data
		out := tiledAs(t, tr, data, 8, false)
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

// Any data either keep their bytes or have the same pixels.
func FuzzTranscode(f *testing.F) {
	for _, data := range pixeltest.IntactJPEGs(f) {
		f.Add(data, uint16(3), false)
	}
	var b bytes.Buffer
	if err := stdjpeg.Encode(&b, pixeltest.TestImage(40, 30, 3, formats.Uint8).ToImage(), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes(), uint16(1), true)
	tr, d := new(jpeg.Transcoder), NewDecoder()
	f.Cleanup(tr.Close)
	f.Cleanup(d.Close)
	f.Fuzz(func(t *testing.T, data []byte, interval uint16, strip bool) {
		_, h, err := Inspect(data)
		if err != nil || CheckSize(h, 1<<20) != nil {
			return
		}
		out := tiledAs(t, tr, data, max(1, int(interval)), strip)
		if out != nil {
			samePixels(t, d, data, out)
		}
	})
}

func BenchmarkTranscode(b *testing.B) {
	e, tr := NewEncoder(), new(jpeg.Transcoder)
	defer e.Close()
	defer tr.Close()
	var v formats.Value
	if err := e.Encode(&v, pixeltest.TestImage(500, 375, 3, formats.Uint8), EncodeOptions{Encoding: formats.JPEG, Quality: 90}, 0); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(v.Data)))
	var out []byte
	for b.Loop() {
		var err error
		if out, err = tr.Append(out[:0], v.Data, 8, false); err != nil {
			b.Fatal(err)
		}
	}
}
