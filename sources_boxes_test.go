package dsconv_test

import (
	"encoding/binary"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// writeBoxes writes a folder of images with annotations in each form, and saves the boxes that pycocotools and torchvision
// read from them, as corners. YOLO's are by the formula of ultralytics' xywhn2xyxy, since that library is large.
const writeBoxes = `
import json, os, sys
import numpy as np
from PIL import Image
from pycocotools.coco import COCO
from torchvision.datasets import CocoDetection, ImageFolder, VOCDetection
os.chdir(sys.argv[1])
rng = np.random.default_rng(0)
want = {}
N, names = 12, {3: "dog", 1: "person", 90: "toothbrush"}
voc = "voc/VOCdevkit/VOC2012/"
for d in "coco/images", "yolo/images", "yolo/labels", voc + "JPEGImages", voc + "Annotations", voc + "ImageSets/Main":
    os.makedirs(d)
sizes = [(int(rng.integers(20, 90)), int(rng.integers(20, 90))) for _ in range(N)]
for i, size in enumerate(sizes):
    for path in "coco/images/%012d.jpg" % i, "yolo/images/%012d.jpg" % i, voc + "JPEGImages/%012d.jpg" % i:
        Image.new("RGB", size, (i, 0, 0)).save(path)

# COCO: crowds, images without objects, ids with gaps and in another order than the files.
annotations = []
for i in rng.permutation(N):
    w, h = sizes[i]
    for k in range(int(i) % 4):
        x, y = rng.uniform(0, w / 2), rng.uniform(0, h / 2)
        box = [round(float(v), 2) for v in (x, y, rng.uniform(1, w / 2), rng.uniform(1, h / 2))]
        annotations.append({"id": len(annotations) + 1, "image_id": 1000 - int(i), "category_id": int(rng.choice(list(names))), "bbox": box,
            "area": box[2] * box[3], "iscrowd": int(k == 2), "segmentation": {"counts": [0, w * h], "size": [h, w]} if k == 2 else [[x, y, x + 1, y, x, y + 1]]})
images = [{"id": 1000 - i, "file_name": "%012d.jpg" % i, "width": w, "height": h} for i, (w, h) in enumerate(sizes)]
json.dump({"images": images, "annotations": annotations, "categories": [{"id": i, "name": n} for i, n in names.items()]}, open("coco/instances.json", "w"))
coco = COCO("coco/instances.json")
detection = CocoDetection("coco/images", "coco/instances.json")
want["coco"] = {}
for index, image_id in enumerate(detection.ids):
    targets = coco.loadAnns(coco.getAnnIds(imgIds=image_id))
    assert [t["id"] for t in targets] == [t["id"] for t in detection[index][1]]
    want["coco"][coco.loadImgs(image_id)[0]["file_name"][:-4]] = {
        "boxes": [[x, y, x + w, y + h] for x, y, w, h in (t["bbox"] for t in targets)],
        "classes": [coco.loadCats(t["category_id"])[0]["name"] for t in targets], "flags": [t["iscrowd"] for t in targets]}

# Pascal VOC
kinds = ["aeroplane", "bird", "boat"]
for i, (w, h) in enumerate(sizes):
    objects = ""
    for k in range(i % 3):
        x0, y0 = rng.integers(1, w // 2), rng.integers(1, h // 2)
        objects += ("<object><name>%s</name><pose>Left</pose><truncated>0</truncated><difficult>%d</difficult><bndbox><xmin>%d</xmin><ymin>%d</ymin><xmax>%d</xmax>"
            "<ymax>%d</ymax></bndbox><part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part></object>") % (
            kinds[(i + k) % 3], k, x0, y0, rng.integers(x0, w + 1), rng.integers(y0, h + 1))
    open(voc + "Annotations/%012d.xml" % i, "w").write("<annotation><folder>VOC2012</folder><filename>%012d.jpg</filename><size><width>%d</width><height>%d</height><depth>3</depth></size>"
        "<segmented>0</segmented>%s</annotation>" % (i, w, h, objects))
open(voc + "ImageSets/Main/train.txt", "w").write("".join("%012d\n" % i for i in range(N)))
want["voc"] = {}
for _, target in VOCDetection("voc", year="2012", image_set="train"):
    objects = target["annotation"]["object"]
    side = lambda o, name: float(o["bndbox"][name])
    want["voc"][target["annotation"]["filename"][:-4]] = {
        "boxes": [[side(o, "xmin") - 1, side(o, "ymin") - 1, side(o, "xmax"), side(o, "ymax")] for o in objects],
        "classes": [o["name"] for o in objects], "flags": [int(o["difficult"]) for o in objects]}

# YOLO
open("yolo/classes.txt", "w").write("\n".join(kinds))
want["yolo"] = {}
for i, (w, h) in enumerate(sizes):
    rows = [(int(rng.integers(3)), *(round(float(v), 6) for v in (*rng.uniform(0.3, 0.7, 2), *rng.uniform(0.01, 0.6, 2)))) for _ in range(i % 3)]
    if rows:
        open("yolo/labels/%012d.txt" % i, "w").write("".join("%d %f %f %f %f\n" % row for row in rows))
    want["yolo"]["%012d" % i] = {"boxes": [[w * (x - bw / 2), h * (y - bh / 2), w * (x + bw / 2), h * (y + bh / 2)] for _, x, y, bw, bh in rows],
        "classes": [kinds[c] for c, *_ in rows], "flags": None}
json.dump(want, open("want.json", "w"))

# ImageFolder, with names that sort otherwise in other orders.
for i, d in enumerate(["a b", "Z", "ä", "10", "9", "a-b/deep", "a_b"]):
    os.makedirs("folder/" + d)
    for k in range(3):
        Image.new("RGB", (4, 5), (i, k, 0)).save("folder/%s/%d.%s" % (d, k, ["jpg", "PNG", "jpeg"][k]))
data = ImageFolder("folder")
json.dump({"classes": data.classes, "samples": {os.path.splitext(os.path.relpath(p, "folder"))[0]: label for p, label in data.samples}}, open("folder.json", "w"))
`

// objectsRead is the objects of an image as another program read them.
type objectsRead struct {
	Boxes   [][4]float64
	Classes []string
	Flags   []byte
}

// TestBoxesOfOtherPrograms: boxes, classes and flags are those that pycocotools and torchvision read, and an
// ImageFolder has torchvision's samples and indices.
func TestBoxesOfOtherPrograms(t *testing.T) {
	dir := t.TempDir()
	formatcheck.ForeignPython(t, writeBoxes, dir)
	var want map[string]map[string]objectsRead
	formatcheck.ReadJSON(t, filepath.Join(dir, "want.json"), &want)
	for name, c := range map[string]struct {
		root, flag string
		cfg        folder.Config
	}{
		"coco": {"coco", "box_crowd", folder.Config{Boxes: []string{filepath.Join(dir, "coco/instances.json")}}},
		"voc": {
			"voc/VOCdevkit/VOC2012", "box_difficult",
			folder.Config{Fields: []string{"image=JPEGImages/{key}.jpg"}, Boxes: []string{"Annotations/{key}.xml"}},
		},
		"yolo": {"yolo", "", folder.Config{Boxes: []string{"labels/{key}.txt"}}},
	} {
		t.Run(name, func(t *testing.T) {
			ds, err := dsconv.OpenSource(t.Context(), filepath.Join(dir, c.root), c.cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer ds.Close()
			if ds.Len() != len(want[name]) {
				t.Fatalf("%d samples, want %d", ds.Len(), len(want[name]))
			}
			for i := range ds.Len() {
				sameObjects(t, ds, i, c.flag, want[name])
			}
		})
	}
	t.Run("ImageFolder", func(t *testing.T) { sameAsImageFolder(t, dir) })
}

func sameObjects(t *testing.T, ds formats.Dataset, i int, flag string, want map[string]objectsRead) {
	t.Helper()
	var s formats.Sample
	if err := ds.Read(i, &s); err != nil {
		t.Fatal(err)
	}
	schema := ds.Meta().Schema
	w, ok := want[filepath.Base(s.Key)]
	boxes, labels := &s.Values[schema.Index("boxes")], &s.Values[schema.Index("box_labels")]
	if !ok || !slices.Equal(boxes.Shape, []int{len(w.Boxes), 4}) {
		t.Fatalf("%s has boxes of the shape %v, want %d", s.Key, boxes.Shape, len(w.Boxes))
	}
	for k, box := range w.Boxes {
		for j, x := range box {
			if got := math.Float32frombits(binary.LittleEndian.Uint32(boxes.Data[16*k+4*j:])); math.Abs(float64(got)-x) > 1e-4 {
				t.Errorf("%s: side %d of box %d is %v, want %v", s.Key, j, k, got, x)
			}
		}
		class := binary.LittleEndian.Uint64(labels.Data[8*k:])
		if classes := schema[schema.Index("box_labels")].Classes; class >= uint64(len(classes)) || classes[class] != w.Classes[k] {
			t.Errorf("%s: box %d is of class %d of %v, want %s", s.Key, k, class, classes, w.Classes[k])
		}
	}
	if flag != "" && string(s.Values[schema.Index(flag)].Data) != string(w.Flags) {
		t.Errorf("%s: %s is %v, want %v", s.Key, flag, s.Values[schema.Index(flag)].Data, w.Flags)
	}
}

func sameAsImageFolder(t *testing.T, dir string) {
	var want struct {
		Classes []string
		Samples map[string]int64
	}
	formatcheck.ReadJSON(t, filepath.Join(dir, "folder.json"), &want)
	ds, err := dsconv.OpenSource(t.Context(), filepath.Join(dir, "folder"), folder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	if !slices.Equal(ds.Meta().Classes(), want.Classes) || ds.Len() != len(want.Samples) {
		t.Errorf("%d samples of %q, want %d of %q", ds.Len(), ds.Meta().Classes(), len(want.Samples), want.Classes)
	}
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if label, ok := want.Samples[in.Key]; err != nil || !ok || in.Label != label {
			t.Errorf("%s has the label %d, want %d; %v", in.Key, in.Label, label, err)
		}
	}
}
