package dsconv_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess"
	preprocesscodec "github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// writeTurned writes images of all EXIF orientations, white in a box and else black, with masks and annotations that were
// drawn on them upright, or as they are stored. What an image is as it is stored is asked of Pillow: its exif_transpose
// is the upright one.
const writeTurned = `
import json, os, sys
import numpy as np
from PIL import Image, ImageOps
os.chdir(sys.argv[1])
rng = np.random.default_rng(0)
W, H = 24, 16
X0, Y0, X1, Y1 = 2, 4, 12, 10

def stored_of(upright, orientation):
    for turn in (None, *range(7)):
        image = Image.fromarray(upright)
        image = image if turn is None else image.transpose(turn)
        stored = np.asarray(image).copy()
        image.getexif()[0x0112] = orientation
        if np.array_equal(np.asarray(ImageOps.exif_transpose(image)), upright):
            return stored
    raise SystemExit("no transposition is undone by the orientation")

want = {}
for drawn in "upright", "stored":
    for d in "images", "masks", "deep", "xml", "labels", "polygons":
        os.makedirs(f"{drawn}/{d}", exist_ok=True)
    coco = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "a"}]}
    for o in range(1, 9):
        mask = rng.integers(0, 20, (H, W), dtype=np.uint8)
        picture = np.zeros((H, W), np.uint8)
        picture[Y0:Y1, X0:X1] = 255
        frames = {}
        for name, m, p in ("upright", mask, picture), ("stored", stored_of(mask, o), stored_of(picture, o)):
            ys, xs = np.nonzero(p)
            frames[name] = m, [int(v) for v in (xs.min(), ys.min(), xs.max() + 1, ys.max() + 1)]
        exif = Image.Exif()
        exif[0x0112] = o
        Image.fromarray(stored_of(picture, o)).save(f"{drawn}/images/{o}.jpg", exif=exif, quality=95)
        m, (x0, y0, x1, y1) = frames[drawn]
        h, w = m.shape
        indices = Image.fromarray(m, "P")
        indices.putpalette([v for k in range(20) for v in (10 * k, 0, 255 - k)])
        indices.save(f"{drawn}/masks/{o}.png")
        np.save(f"{drawn}/deep/{o}.npy", m.astype(np.uint16) * 100)
        coco["images"].append({"id": o, "file_name": f"{o}.jpg", "width": w, "height": h})
        coco["annotations"].append({"id": o, "image_id": o, "category_id": 1, "bbox": [x0, y0, x1 - x0, y1 - y0]})
        open(f"{drawn}/xml/{o}.xml", "w").write(f"<annotation><size><width>{w}</width><height>{h}</height></size><object><name>a</name>"
            f"<bndbox><xmin>{x0+1}</xmin><ymin>{y0+1}</ymin><xmax>{x1}</xmax><ymax>{y1}</ymax></bndbox></object></annotation>")
        open(f"{drawn}/labels/{o}.txt", "w").write(f"0 {(x0+x1)/2/w} {(y0+y1)/2/h} {(x1-x0)/w} {(y1-y0)/h}\n")
        open(f"{drawn}/polygons/{o}.txt", "w").write("0 " + " ".join(f"{x/w} {y/h}" for x, y in ((x0, y0), (x1, y0), (x1, y1), (x0, y1))) + "\n")
        want[f"{drawn}{o}"] = {n: {"size": m.shape, "mask": m.ravel().tolist(), "box": b} for n, (m, b) in frames.items()}
    json.dump(coco, open(f"{drawn}/coco.json", "w"))
json.dump(want, open("want.json", "w"))
`

// frame is a mask and a box of an image, upright or as it is stored.
type frame struct {
	Size []int
	Mask []int
	Box  []float32
}

// TestAnnotationsOfTurnedImages: boxes and masks are of the pixels that the images have, whether they were drawn on them
// upright or as they are stored, and whether the orientation is applied.
func TestAnnotationsOfTurnedImages(t *testing.T) {
	dir := t.TempDir()
	formatcheck.Python(t, writeTurned, dir)
	var want map[string]map[string]frame
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	for _, drawn := range []string{"upright", "stored"} {
		root := filepath.Join(dir, drawn)
		for boxes, uprightOnly := range map[string]bool{filepath.Join(root, "coco.json"): false, "xml/{key}.xml": false, "labels/{key}.txt": true, "polygons/{key}.txt": true} {
			if uprightOnly && drawn == "stored" {
				continue // shares of the size tell nothing
			}
			cfg := folder.Config{Boxes: []string{boxes}, Fields: []string{"image=images/{key}.jpg", "mask=masks/{key}.png", "deep_mask=deep/{key}.npy"}}
			cfg.Fields[2] += ",kind=mask"
			frames := func(apply bool) (list []frame) {
				for o := range 8 {
					name := "stored"
					if apply {
						name = "upright"
					}
					list = append(list, want[fmt.Sprint(drawn, o+1)][name])
				}
				return list
			}
			name := drawn + "/" + filepath.Base(boxes) + filepath.Dir(boxes)[:1]
			t.Run(name+"/keep", func(t *testing.T) { packedFrames(t, root, cfg, preprocess.Recipe{}, frames(false)) })
			png := preprocess.Recipe{Encode: preprocesscodec.EncodeOptions{Encoding: formats.PNG}, Color: pixel.ColorGray}
			t.Run(name+"/png", func(t *testing.T) { packedFrames(t, root, cfg, png, frames(false)) })
			png.EXIF = pixel.EXIFApply
			t.Run(name+"/apply", func(t *testing.T) { packedFrames(t, root, cfg, png, frames(true)) })
			for _, apply := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/Loader/%v", name, apply), func(t *testing.T) { loadedFrames(t, root, cfg, apply, frames(apply)) })
			}
		}
	}
}

// packedFrames packs a folder and compares what is written.
func packedFrames(t *testing.T, root string, cfg folder.Config, recipe preprocess.Recipe, want []frame) {
	dst := filepath.Join(t.TempDir(), "x.lmdb")
	if r, err := dsconv.Pack(t.Context(), root, dst, dsconv.Options{Options: convert.Options{Recipe: recipe}, Source: cfg}); err != nil || r.Datasets[0].Written != 8 {
		t.Fatal(err, r)
	}
	ds, err := dsconv.Open(dst)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	decoder := codec.NewDecoder()
	defer decoder.Close()
	schema := ds.Meta().Schema
	var s formats.Sample
	for i, w := range want {
		if err := ds.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		if box := floats(s.Values[schema.Index("boxes")].Data); !slices.Equal(box, w.Box) {
			t.Errorf("%s: the box is %v, want %v", s.Key, box, w.Box)
		}
		var img pixel.Image
		if err := decoder.Decode(&img, &s.Values[0], codec.DecodeOptions{Color: pixel.ColorGray}); err != nil {
			t.Fatal(err)
		}
		inBox(t, s.Key, img.Pix, img.W, w.Box, 1, 1)
		for name, scale := range map[string]int{"mask": 1, "deep_mask": 100} {
			var m pixel.Image
			if err := decoder.Decode(&m, &s.Values[schema.Index(name)], codec.MaskOptions()); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal([]int{m.H, m.W}, w.Size) || m.C != 1 || !slices.Equal(integers(m.Pix, m.DType), times(w.Mask, scale)) {
				t.Errorf("%s: %s is %dx%d of other values, want %v", s.Key, name, m.H, m.W, w.Size)
			}
		}
	}
}

// loadedFrames loads a folder directly, scaled to squares by whole factors, and compares what it gives.
func loadedFrames(t *testing.T, root string, cfg folder.Config, apply bool, want []frame) {
	ds, err := folder.Open(t.Context(), root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	const side = 48
	l, err := reader.New(ds, reader.Config{
		BatchSize: 1, Color: pixel.ColorGray, ApplyOrientation: apply, Fields: []string{"mask", "boxes"},
		Transforms: augment.Ops{augment.Resize{H: side, W: side, Filter: pixel.Nearest}},
	})
	if err != nil {
		t.Fatal(err)
	}
	i := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		w := want[i]
		x, y := side/w.Size[1], side/w.Size[0]
		for at, v := range b.Fields[0].Value(0) {
			if int(v) != w.Mask[at/side/y*w.Size[1]+at%side/x] {
				t.Fatalf("image %d: the mask is %d at %d", i+1, v, at)
			}
		}
		scaled := []float32{w.Box[0] * float32(x), w.Box[1] * float32(y), w.Box[2] * float32(x), w.Box[3] * float32(y)}
		if got := reader.Elements[float32](b.Fields[1].Value(0)); !slices.Equal(got, scaled) {
			t.Errorf("image %d: the box is %v, want %v", i+1, got, scaled)
		}
		inBox(t, fmt.Sprint(i+1), reader.Pixels[uint8](b), side, w.Box, x, y)
		i++
	}
	if err := l.Close(); err != nil || i != len(want) {
		t.Error(i, err)
	}
}

// inBox checks that a grey image is bright in a box, scaled by x and y, and only there.
func inBox(t *testing.T, key string, pix []byte, width int, box []float32, x, y int) {
	t.Helper()
	for at, v := range pix {
		px, py := float32(at%width/x), float32(at/width/y)
		if inside := box[0] <= px && px < box[2] && box[1] <= py && py < box[3]; (v > 128) != inside {
			t.Fatalf("%s: the pixel %v %v is %d, and the box %v", key, px, py, v, box)
		}
	}
}

func floats(b []byte) (list []float32) {
	for ; len(b) > 0; b = b[4:] {
		list = append(list, math.Float32frombits(binary.LittleEndian.Uint32(b)))
	}
	return list
}

func integers(b []byte, d formats.DType) (list []int) {
	for ; len(b) > 0; b = b[d.Size():] {
		if d == formats.Uint16 {
			list = append(list, int(binary.LittleEndian.Uint16(b)))
		} else {
			list = append(list, int(b[0]))
		}
	}
	return list
}

func times(list []int, n int) []int {
	out := slices.Clone(list)
	for i := range out {
		out[i] *= n
	}
	return out
}
