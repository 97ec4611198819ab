//go:build cgo

package main

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// fieldOptions are the options that pack what writeFields writes.
var fieldOptions = []string{
	"--field", "mask=masks/{key}.png", "--field", "depth=depth/{key}.png,kind=mask", "--field", "right=right/{key}.jpg", "--field", "caption=images/{key}.txt",
	"--field", "meta=images/{key}.json", "--field", "points=arrays/{key}.npy", "--field", "blob=images/{key}.bin", "--captions", "captions.json",
}

// writeFields writes 4 samples with a field of each kind into src, of 16 by 8 pixels, and COCO's files beside it. Sample i has i boxes.
func writeFields(t *testing.T) {
	t.Helper()
	write := func(name string, data []byte) {
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		must(t, os.WriteFile(name, data, 0o644))
	}
	r := image.Rect(0, 0, 16, 8)
	var images, boxes, captions []map[string]any
	for i := range 4 {
		photo, mask, depth := image.NewRGBA(r), image.NewGray(r), image.NewGray16(r)
		for p := range 16 * 8 {
			x, y := p%16, p/16
			photo.Set(x, y, color.RGBA{uint8(16 * x), uint8(30 * y), uint8(60 * i), 255})
			mask.SetGray(x, y, color.Gray{Y: uint8(x/4 + i)})
			depth.SetGray16(x, y, color.Gray16{Y: uint16(1000*y + 257*i)})
		}
		key := fmt.Sprintf("%s/%d", []string{"train", "val"}[i/3], i)
		var b bytes.Buffer
		must(t, jpeg.Encode(&b, photo, nil))
		write("src/images/"+key+".jpg", b.Bytes())
		write("src/right/"+key+".jpg", b.Bytes())
		for name, m := range map[string]image.Image{"masks": mask, "depth": depth} {
			b.Reset()
			must(t, png.Encode(&b, m))
			write("src/"+name+"/"+key+".png", b.Bytes())
		}
		write("src/images/"+key+".txt", fmt.Appendf(nil, "größer %d\n", i))
		write("src/images/"+key+".json", fmt.Appendf(nil, `{"i": %d}`, i))
		write("src/images/"+key+".bin", []byte{0, byte(i), 255})
		write("src/arrays/"+key+".npy", append(npy.AppendHeader(nil, formats.Int64, []int{i, 2}), make([]byte, 16*i)...))
		images = append(images, map[string]any{"id": 10 + i, "file_name": fmt.Sprintf("%d.jpg", i)})
		for n := range i {
			boxes = append(boxes, map[string]any{"image_id": 10 + i, "category_id": 3 * n, "bbox": []int{2 * n, 1, 4, 6}, "iscrowd": n % 2})
		}
		captions = append(captions, map[string]any{"image_id": 10 + i, "caption": fmt.Sprint("caption ", i)})
	}
	categories := []map[string]any{{"id": 6, "name": "cow"}, {"id": 0, "name": "cat"}, {"id": 3, "name": "dog"}}
	for name, annotations := range map[string]any{"boxes.json": boxes, "captions.json": captions} {
		data, err := json.Marshal(map[string]any{"images": images, "annotations": annotations, "categories": categories})
		must(t, err)
		write(name, data)
	}
}

func packFields(t *testing.T, dst string, options ...string) {
	t.Helper()
	args := append([]string{"pack", "src", dst, "--boxes", "boxes.json"}, append(fieldOptions, options...)...)
	if code, said := dsconvSays(args...); code != exitDone {
		t.Fatalf("%v: exit code %d: %s", args, code, said)
	}
}

// sameSamples compares all values of two datasets, whose images and masks keep their encodings.
func sameSamples(t *testing.T, name string, got, want formats.Dataset) {
	t.Helper()
	if got.Len() != want.Len() || !reflect.DeepEqual(got.Meta().Schema.Names(), want.Meta().Schema.Names()) {
		t.Fatalf("%s: %d samples with %v, want %d with %v", name, got.Len(), got.Meta().Schema.Names(), want.Len(), want.Meta().Schema.Names())
	}
	var a, b formats.Sample
	for i := range want.Len() {
		must(t, got.Read(i, &a))
		must(t, want.Read(i, &b))
		for k, f := range want.Meta().Schema {
			x, y := a.Values[k], b.Values[k]
			tensor := f.Kind == formats.Boxes || f.Kind == formats.Array
			if !bytes.Equal(x.Data, y.Data) || x.Encoding != y.Encoding || tensor && (x.DType != y.DType || !reflect.DeepEqual(x.Shape, y.Shape)) {
				t.Errorf("%s: sample %d: %s is %d bytes of %s %v, want %d of %s %v", name, i, f.Name, len(x.Data), x.Encoding, x.Shape, len(y.Data), y.Encoding, y.Shape)
			}
		}
	}
}

// Each kind of field comes back from each format as it lies in the folder, and out of unpack.
func TestFieldsRoundTrip(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFields(t)
	src, err := folder.Open(t.Context(), "src", folder.Config{
		Fields: []string{"mask=masks/{key}.png", "depth=depth/{key}.png,kind=mask", "right=right/{key}.jpg", "caption=images/{key}.txt", "meta=images/{key}.json", "points=arrays/{key}.npy", "blob=images/{key}.bin"},
		Boxes:  []string{"boxes.json"}, Captions: []string{"captions.json"},
	})
	must(t, err)
	defer src.Close()
	for _, ext := range []string{"lmdb", "h5", "tar", "tfrecord"} {
		packFields(t, "x."+ext)
		ds, err := dsconv.Open("x." + ext)
		must(t, err)
		sameSamples(t, ext, ds, src)
		must(t, ds.Close())
		if code, said := dsconvSays("add", "x."+ext, "src"); code != exitDone || !strings.Contains(said, "4 unchanged") {
			t.Errorf("add to %s: %d %s", ext, code, said)
		}
	}
	if code, said := dsconvSays("unpack", "x.tar", "back"); code != exitDone {
		t.Fatal(said)
	}
	back, err := dsconv.OpenSource(t.Context(), "back", folder.Config{Labels: "back/labels.json"})
	must(t, err)
	defer back.Close()
	sameSamples(t, "unpack", back, src)
}

// A resize takes masks (nearest: no new values), boxes and more images along, in each format.
func TestFieldsFollowAResize(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFields(t)
	var s formats.Sample
	for _, ext := range []string{"lmdb", "h5", "tar", "tfrecord"} {
		packFields(t, "x."+ext, "--resize", "exact:8x4", "--encode", "png")
		ds, err := dsconv.Open("x." + ext)
		must(t, err)
		schema := ds.Meta().Schema
		for i := range ds.Len() {
			must(t, ds.Read(i, &s))
			for _, name := range []string{"image", "mask", "depth", "right"} {
				m, err := png.Decode(bytes.NewReader(s.Values[schema.Index(name)].Data))
				must(t, err)
				if m.Bounds() != image.Rect(0, 0, 8, 4) {
					t.Errorf("%s: %s has %v", ext, name, m.Bounds())
				}
				for p := range 8 * 4 {
					x, y := p%8, p/8
					switch m := m.(type) {
					case *image.Gray:
						if got, want := int(m.GrayAt(x, y).Y), x/2+i; name == "mask" && got != want {
							t.Errorf("%s: mask %d at %d,%d: %d, want %d", ext, i, x, y, got, want)
						}
					case *image.Gray16:
						if got := int(m.Gray16At(x, y).Y) - 257*i; name == "depth" && got != 1000*(2*y+1) {
							t.Errorf("%s: depth %d at %d,%d: %d", ext, i, x, y, got)
						}
					}
				}
			}
			boxes := s.Values[schema.Index("boxes")].Data
			for n := range i {
				var b [4]float32
				for k := range b {
					b[k] = math.Float32frombits(binary.LittleEndian.Uint32(boxes[16*n+4*k:]))
				}
				if want := [4]float32{float32(n), 0.5, float32(n) + 2, 3.5}; b != want {
					t.Errorf("%s: box %d: %v, want %v", ext, n, b, want)
				}
			}
			if len(boxes) != 16*i {
				t.Errorf("%s: sample %d: %d bytes of boxes", ext, i, len(boxes))
			}
		}
		must(t, ds.Close())
	}
}

// A sample without one of its files follows --on-error, by name, and pack asks what images are that look like masks.
func TestMissingFieldsAndQuestions(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFields(t)
	must(t, os.Remove("src/masks/train/1.png"))
	mask := []string{"--field", "image=images/{key}.*", "--field", "mask=masks/{key}.png", "--exclude", "depth/", "--exclude", "right/"}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{mask, exitSkipped, "skipped images/train/1.jpg: field mask: there is no file masks/train/1.png"},
		{append([]string{"--on-error", "fail"}, mask...), exitFailed, "images/train/1.jpg: field mask: there is no file masks/train/1.png"},
		{append([]string{"--dry-run"}, mask...), exitDone, "field mask (mask): 3 from masks/{key}.png; 1 images have none"},
		{[]string{"--field", "mask=masks/{key}.png"}, exitFailed, "add --field 'image=images/{key}.*'"},
		{nil, exitUsage, "--field 'image=images/{key}.*' --field 'mask=masks/{key}.png'"},
		{[]string{"--field", "none"}, exitDone, "found 15 = written 15"},
		{[]string{"--field", "mask={name}"}, exitUsage, "use {key}"},
		{[]string{"--labels", "x.json", "--field", "none"}, exitFailed, "x.json"},
	} {
		code, said := dsconvSays(append([]string{"pack", "src", "x.tar", "--discard", "--force"}, c.args...)...)
		if code != c.code || !strings.Contains(said, c.want) {
			t.Errorf("%v: exit code %d, want %d: %s", c.args, code, c.code, said)
		}
	}
	ds, err := dsconv.Open("x.tar")
	must(t, err)
	defer ds.Close()
	if got := ds.Meta().Recipe["field"]; got != "none" {
		t.Errorf("the answer is not in the recipe: %q", got)
	}
}

// A damaged partner is named.
func TestDamagedFieldsAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFields(t)
	for _, name := range []string{"src/masks/train/1.png", "src/right/train/2.jpg"} {
		data, err := os.ReadFile(name)
		must(t, err)
		must(t, os.WriteFile(name, data[:len(data)/2], 0o644))
	}
	options := append([]string{"pack", "src", "x.tar", "--boxes", "boxes.json"}, fieldOptions...)
	code, said := dsconvSays(options...)
	if code != exitSkipped || !strings.Contains(said, "skipped images/train/1.jpg: field mask: masks/train/1.png: ") || !strings.Contains(said, "images/train/2.jpg: field right: right/train/2.jpg: ") {
		t.Errorf("exit code %d: %s", code, said)
	}
	if code, said := dsconvSays(append(options, "--force", "--on-error", "fail")...); code != exitFailed || !strings.Contains(said, ": field mask: masks/train/1.png: ") && !strings.Contains(said, ": field right: right/train/2.jpg: ") {
		t.Errorf("fail: exit code %d: %s", code, said)
	}
}
