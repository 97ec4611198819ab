package tfrecord_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// openExamples opens a dataset that the format matches.
func openExamples(t *testing.T, path, entries string) (formats.Dataset, error) {
	t.Helper()
	return formatcheck.OpenForeign(t, tfrecord.Examples{}, path, entries)
}

// describe lists the samples: key, split, label and class, the first byte of the image after its magic and the other fields.
func describe(t *testing.T, ds formats.Dataset) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintln(&b, ds.Meta().Schema.Names(), ds.Meta().Classes(), ds.Meta().Columns)
	formatcheck.EachSample(t, ds, func(in formats.Info, s *formats.Sample) {
		image := &s.Values[0]
		fmt.Fprintf(&b, "%s|%s|%d|%s|%s %v %x", in.Key, in.Split, in.Label, in.Source.Path, image.Encoding, image.Shape, image.Data[len(image.Data)-2:])
		for k := 1; k < len(s.Values); k++ {
			fmt.Fprintf(&b, "|%s", formatcheck.ValueText(&s.Values[k]))
		}
		fmt.Fprintln(&b, "|"+strings.Join(s.Columns, ","))
	})
	return b.String()
}

// write lets Python's tfrecord write records; the script has write(path, [features]) and jpeg(i), an image file that ends in i.
func write(t *testing.T, script string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	formatcheck.Python(t, `
import os, sys, json, struct
os.chdir(sys.argv[1])
from tfrecord.writer import TFRecordWriter
def jpeg(i): return b"\xff\xd8\xff\xe0" + bytes([1, 2, 3, i])
def write(path, records):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    w = TFRecordWriter(path)
    for r in records:
        w.write(r)
    w.close()
`+script, folder)
	return folder
}

func check(t *testing.T, ds formats.Dataset, err error, want string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	if got := describe(t, ds); got != strings.TrimLeft(want, "\n") {
		t.Errorf("got\n%s\nwant%s", got, want)
	}
}

// TestImageNet: shards with the features of TensorFlow's ImageNet scripts have torchvision's class indices.
func TestImageNet(t *testing.T) {
	dir := write(t, `
def rec(i, synset, label, name):
    return {"image/encoded": (jpeg(i), "byte"), "image/class/label": (label, "int"), "image/class/synset": (synset.encode(), "byte"),
            "image/class/text": (b"a " + synset.encode(), "byte"), "image/filename": (name.encode(), "byte"), "image/height": (10, "int"),
            "image/width": (11, "int"), "image/channels": (3, "int"), "image/colorspace": (b"RGB", "byte"), "image/format": (b"JPEG", "byte"),
            "image/object/bbox/xmin": ([0.25, 0.5], "float")}
write("train-00000-of-00002", [rec(1, "n02", 900, "n02_7.JPEG"), rec(2, "n01", 3, "n01_10.JPEG")])
write("train-00001-of-00002", [rec(3, "n02", 900, "n02_1.JPEG")])
write("validation-00000-of-00001", [rec(4, "n03", 7, "ILSVRC2012_val_00000001.JPEG")])
`)
	want := `
[image label image_object_bbox_xmin] [n01 n02 n03] [synset text]
train/n01_10|train|0|n01_10.JPEG|jpeg [10 11 3] 0302|int64[]0000000000000000|float32[2]0000803e0000003f|n01,a n01
train/n02_1|train|1|n02_1.JPEG|jpeg [10 11 3] 0303|int64[]0100000000000000|float32[2]0000803e0000003f|n02,a n02
train/n02_7|train|1|n02_7.JPEG|jpeg [10 11 3] 0301|int64[]0100000000000000|float32[2]0000803e0000003f|n02,a n02
validation/ILSVRC2012_val_00000001|validation|2|ILSVRC2012_val_00000001.JPEG|jpeg [10 11 3] 0304|int64[]0200000000000000|float32[2]0000803e0000003f|n03,a n03
`
	want = strings.ReplaceAll(want, "[10 11 3]", "[]") // JPEG's own header says its shape
	ds, err := openExamples(t, dir, "")
	check(t, ds, err, want)
	ds, err = openExamples(t, filepath.Join(dir, "*-of-*"), "")
	check(t, ds, err, want)
	ds, err = openExamples(t, dir, "label=image/class/label-1")
	if err != nil {
		t.Fatal(err)
	}
	if in, err := ds.Info(0); err != nil || in.Label != 2 {
		t.Errorf("label %d, %v", in.Label, err)
	}
}

// TestOneBased: without names of classes, labels under ImageNet's key that do not begin at 0 are asked about.
func TestOneBased(t *testing.T) {
	for _, c := range []struct {
		labels, entries string
		want            []int64
		err             string
	}{
		{"1, 3, 2, 3", "", nil, "the smallest label in image/class/label is 1"},
		{"0, 3, 1", "", []int64{0, 3, 1}, ""},
		{"2, 3", "", nil, "label=image/class/label-1"},
		{"2, 3", "label=image/class/label-1", []int64{1, 2}, ""},
		{"2, 3", "label=image/class/label+0", []int64{2, 3}, ""},
		{"1, 2", "label=image/class/label+0", []int64{1, 2}, ""},
	} {
		dir := write(t, `
write("x.tfrecord", [{"image/encoded": (jpeg(i), "byte"), "image/class/label": (l, "int")} for i, l in enumerate([`+c.labels+`])])
`)
		ds, err := openExamples(t, filepath.Join(dir, "x.tfrecord"), c.entries)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.labels, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for i := range ds.Len() {
			in, err := ds.Info(i)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, in.Label)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %v, want %v", c.labels, c.entries, got, c.want)
		}
	}
}

// TestMap: other names, and features that become fields.
func TestMap(t *testing.T) {
	dir := write(t, `
write("val.tfrec", [{"img_raw": (jpeg(10 + i), "byte"), "cls": (5 + i, "int"),
    "thumb": (jpeg(i), "byte"), "pose": ([1, 2 + i], "int"), "blob": (b"\xff" * i, "byte"), "corners": ([1.0, 2.0, 3.0, 4.0], "float")} for i in range(2)])
`)
	path := filepath.Join(dir, "val.tfrec")
	ds, err := openExamples(t, path, "image=img_raw,label=cls,boxes=corners")
	check(t, ds, err, `
[image label boxes blob pose thumb] [0 1 2 3 4 5 6] []
val/00000000|val|5|val/00000000|jpeg [] 030a|int64[]0500000000000000|float32[1 4]0000803f000000400000404000008040||int64[2]01000000000000000200000000000000|`+"\xff\xd8\xff\xe0\x01\x02\x03\x00"+`|
val/00000001|val|6|val/00000001|jpeg [] 030b|int64[]0600000000000000|float32[1 4]0000803f000000400000404000008040|`+"\xff"+`|int64[2]01000000000000000300000000000000|`+"\xff\xd8\xff\xe0\x01\x02\x03\x01"+`|
`)
	if _, err := openExamples(t, path, "image=nothing"); err == nil || !strings.Contains(err.Error(), "img_raw (bytes)") {
		t.Errorf("a feature that is not there: %v", err)
	}
}

// TestNumbers: a float under a usual name is a number to predict; another one is never the label.
func TestNumbers(t *testing.T) {
	dir := write(t, `
for name in "label", "class", "score":
    write(name + ".tfrecord", [{"image": (jpeg(i), "byte"), name: (i / 2, "float"), "age": (7.0, "float")} for i in range(2)])
`)
	const number = "|%g|7|"
	for _, c := range []struct{ name, entries, fields, values string }{
		{"label", "", "[image label age]", number},
		{"class", "", "[image label age]", number},
		{"score", "", "[image age score]", "|float32[1]0000e040|float32[1]%x|"},
		{"score", "label=score", "[image label age]", number},
		{"score", "grade=score", "[image grade age]", "|float32[1]%x|float32[1]0000e040|"},
	} {
		ds, err := openExamples(t, filepath.Join(dir, c.name+".tfrecord"), c.entries)
		want := c.fields + " [] []\n"
		for i, x := range []any{[]byte{0, 0, 0, 0}, []byte{0, 0, 0, 0x3f}} {
			if c.values == number {
				x = float32(i) / 2
			}
			want += fmt.Sprintf("%08d||-1|%08d|jpeg [] 030%d"+c.values+"\n", i, i, i, x)
		}
		check(t, ds, err, want)
		if label := ds.Meta().Schema.LabelIndex(); (label >= 0) != strings.Contains(c.fields, "label") {
			t.Errorf("%s %s: the label is field %d", c.name, c.entries, label)
		}
	}
}

// TestRepeatedNames: records whose file names are equal stay samples of their own; all of them get their numbers.
func TestRepeatedNames(t *testing.T) {
	dir := write(t, `
for shard, names in enumerate([["a/1.jpg", "2.jpg", "a/1.jpg"], ["3.jpg", "2.png"]]):
    write("train-%05d-of-00002" % shard, [{"image": (jpeg(3 * shard + i), "byte"), "filename": (n.encode(), "byte")} for i, n in enumerate(names)])
`)
	ds, err := openExamples(t, dir, "")
	check(t, ds, err, `
[image] [] []
train/2-00000001|train|-1|train/2-00000001|jpeg [] 0301|
train/2-00000004|train|-1|train/2-00000004|jpeg [] 0304|
train/3|train|-1|3.jpg|jpeg [] 0303|
train/a/1-00000000|train|-1|train/a/1-00000000|jpeg [] 0300|
train/a/1-00000002|train|-1|train/a/1-00000002|jpeg [] 0302|
`)
}

// TestKaggle: splits in names with numbers behind, and masks by the names of their features; a JPEG is none.
func TestKaggle(t *testing.T) {
	dir := write(t, `
png = b"\x89PNG\r\n\x1a\n" + bytes([1, 2])
for name in "train00-1", "val00-1":
    write(name + ".tfrec", [{"image/encoded": (jpeg(1), "byte"), "image/segmentation/class/encoded": (png, "byte"), "mask_preview": (jpeg(2), "byte")}])
`)
	ds, err := openExamples(t, dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := formatcheck.SchemaText(ds.Meta().Schema); got != "image:image image_segmentation_class_encoded:mask mask_preview:image" {
		t.Error(got)
	}
	if got := fmt.Sprint(ds.Meta().Splits); got != "[{train 1} {val 1}]" {
		t.Error(got)
	}
}
