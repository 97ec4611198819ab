package fields_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func TestFields(t *testing.T) {
	for name, c := range map[string]struct {
		files  string
		config folder.Config
		want   []string
	}{
		"masks beside images": {
			"images/a.png images/b.png masks/a.png masks/b.PNG",
			folder.Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"a mask=png", "b mask=png"},
		},
		"by the name": {
			"cat/a.png dog/b.png masks/a.png masks/b.png",
			folder.Config{Fields: []string{"mask=masks/{stem}.png"}},
			[]string{"cat/a  cat mask=png", "dog/b  dog mask=png"},
		},
		"in the same folder": {
			"cat/a.png cat/a_mask.png dog/b.png dog/b_mask.png cat/a.txt dog/b.txt",
			folder.Config{Fields: []string{"mask={key}_mask.png", "caption={key}.txt"}},
			[]string{"cat/a  cat mask=png caption=cat/a.txt", "dog/b  dog mask=png caption=dog/b.txt"},
		},
		"splits": {
			"train/images/a.png train/masks/a.png val/images/a.png val/masks/a.png",
			folder.Config{Fields: []string{"mask={split}/masks/{key}.png"}},
			[]string{"train/a train mask=png", "val/a val mask=png"},
		},
		"splits below": {
			"images/train/a.png masks/train/a.png images/val/b.png masks/val/b.png",
			folder.Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"train/a train mask=png", "val/b val mask=png"},
		},
		"several images": {
			"x/a.left.png x/a.right.png",
			folder.Config{Fields: []string{"image={key}.left.png", "right={key}.right.png,kind=image"}},
			[]string{"x/a  x right=png"},
		},
		"splits and classes named": {
			"training/img/cat/1.png training/gt/cat/1.png test/img/dog/2.png test/gt/dog/2.png",
			folder.Config{Fields: []string{"image={split}/img/{class}/{stem}.png", "gt={split}/gt/{class}/{stem}.png"}},
			[]string{"test/dog/2 test dog gt=png", "training/cat/1 training cat gt=png"},
		},
		"only splits named": {
			"images/training/1.png images/validation/2.png annotations/training/1.png annotations/validation/2.png",
			folder.Config{Fields: []string{"image=images/{split}/{stem}.png", "mask=annotations/{split}/{stem}.png"}},
			[]string{"training/1 training mask=png", "validation/2 validation mask=png"},
		},
		"only splits named, and no field": {
			"images/training/1.png images/validation/2.png",
			folder.Config{Fields: []string{"image=images/{split}/{stem}.png"}},
			[]string{"training/1 training", "validation/2 validation"},
		},
		"only classes named": {
			"images/train/1.png images/val/2.png masks/train/1.png masks/val/2.png",
			folder.Config{Fields: []string{"image=images/{class}/{stem}.png", "mask=masks/{class}/{stem}.png"}},
			[]string{"train/1  train mask=png", "val/2  val mask=png"},
		},
		"splits of any name and classes named": {
			"images/a/cat/1.png images/b/dog/2.png masks/a/cat/1.png masks/b/dog/2.png",
			folder.Config{Fields: []string{"image=images/{split}/{class}/{stem}.png", "mask=masks/{split}/{class}/{stem}.png"}},
			[]string{"a/cat/1 a cat mask=png", "b/dog/2 b dog mask=png"},
		},
		"boxes of splits": {
			"images/a/1.png images/b/2.png labels/a/1.txt labels/b/2.txt",
			folder.Config{Fields: []string{"image=images/{split}/{stem}.png"}, Boxes: []string{"labels/{split}/{stem}.txt"}},
			[]string{"a/1 a boxes=16 box_labels=8", "b/2 b boxes=16 box_labels=8"},
		},
		"missing": {
			"images/a.png images/b.png masks/a.png masks/c.png",
			folder.Config{Fields: []string{"mask=masks/{key}.png"}},
			[]string{"a mask=png", "b error field mask: there is no file masks/b.png"},
		},
		"wildcard": {
			"x/a.jpg x/a.mask.png x/b.jpg x/b.mask.gif x/b.mask.png",
			folder.Config{Fields: []string{"mask={key}.mask.*"}},
			[]string{"x/a  x mask=png", "x/b  x error field mask: two files may be it: x/b.mask.gif and x/b.mask.png"},
		},
		"JSON and bytes": {
			"a.png a.json b.png b.json a.dat b.dat",
			folder.Config{Fields: []string{"meta={key}.json", "blob={key}.dat"}},
			[]string{"a error field meta: a.json: not JSON; kind=bytes takes it as it is", "b error field meta: b.json: not JSON; kind=bytes takes it as it is"},
		},
		"a file of a folder": {
			"x/a.png x/b.png x/info.txt",
			folder.Config{Fields: []string{"info={dir}/info.txt"}},
			[]string{"x/a  x info=x/info.txt", "x/b  x info=x/info.txt"},
		},
		"beside the images in their folder": {
			"images/a.png images/a.txt images/b.png images/b.txt masks/a.png masks/b.png",
			folder.Config{Fields: []string{"caption={key}.txt", "mask=masks/{key}.png"}},
			[]string{"a caption=images/a.txt mask=png", "b caption=images/b.txt mask=png"},
		},
		"in the root": {
			"a.png m/a.png",
			folder.Config{Fields: []string{"mask={dir}/m/{stem}.png"}},
			[]string{"a mask=png"},
		},
		"none": {
			"x/a.png x/a_mask.png",
			folder.Config{Fields: []string{"none"}},
			[]string{"x/a  x", "x/a_mask  x"},
		},
	} {
		contents := map[string]string{}
		for _, f := range strings.Fields(c.files) {
			contents[f] = f
			switch ext := strings.ToLower(filepath.Ext(f)); {
			case ext == ".png" || ext == ".jpg" || ext == ".gif":
				contents[f] = "png"
			case strings.HasPrefix(f, "labels/"):
				contents[f] = "0 0.5 0.5 0.5 0.5"
			}
		}
		root := foldertest.Files(t, contents)
		d := open(t, root, c.config)
		if got := foldertest.Values(t, d); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		foldertest.Must(t, d.Close())
		v, err := folder.OpenTree(context.Background(), foldertest.AsTree(os.DirFS(root)), c.config)
		foldertest.Must(t, err)
		if got := foldertest.Values(t, v); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: in a file system: %q, want %q", name, got, c.want)
		}
		foldertest.Must(t, v.Close())
	}
}

func TestFieldsWithTable(t *testing.T) {
	root := foldertest.Files(t, map[string]string{"i/a.png": "png", "i/b.png": "png", "m/a.png": "png", "m/b.png": "png", "labels.csv": "path,label\ni/a.png,x\ni/b.png,y\n"})
	d := open(t, root, folder.Config{Labels: filepath.Join(root, "labels.csv"), Fields: []string{"mask=m/{stem}.png"}})
	defer d.Close()
	if got, want := foldertest.Values(t, d), []string{"i/a  x mask=png", "i/b  y mask=png"}; !reflect.DeepEqual(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := d.Skips(); len(got) > 0 {
		t.Error("skips", got)
	}
}

// Masks in .npy files have the type of theirs or one that holds it; what does not fit is that sample's error.
func TestArraysOfMasks(t *testing.T) {
	for _, c := range []struct {
		descr, shape string
		elements     []byte
		kind, want   string
	}{
		{"|u1", "2, 1", []byte{7, 255}, "mask", "uint8 [2 1 1] [7 255]"},
		{"<u2", "1, 1, 2", []byte{7, 1, 2, 0}, "mask", "uint16 [1 1 2] [7 1 2 0]"},
		{"|b1", "1, 2", []byte{1, 0}, "mask", "uint8 [1 2 1] [1 0]"},
		{"|i1", "1, 2", []byte{127, 3}, "mask", "uint8 [1 2 1] [127 3]"},
		{"<i2", "1, 1", []byte{0, 1}, "mask", "uint16 [1 1 1] [0 1]"},
		{"<i4", "1, 2", []byte{5, 1, 0, 0, 6, 0, 0, 0}, "mask", "uint16 [1 2 1] [5 1 6 0]"},
		{"<u4", "1, 1", []byte{255, 255, 0, 0}, "mask", "uint16 [1 1 1] [255 255]"},
		{"<i8", "1, 2", []byte{9, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}, "mask", "uint16 [1 2 1] [9 0 0 1]"},
		{"<u8", "1, 1", []byte{9, 0, 0, 0, 0, 0, 0, 0}, "mask", "uint16 [1 1 1] [9 0]"},
		{"<i4", "1, 1", []byte{255, 255, 255, 255}, "mask", "m/a.npy: the value -1: a mask has whole numbers from 0 to 65535"},
		{"<u4", "1, 1", []byte{0, 0, 1, 0}, "mask", "m/a.npy: the value 65536: a mask"},
		{"<f4", "1, 1", []byte{0, 0, 0, 0}, "mask", `m/a.npy: an array of "<f4": a mask`},
		{"<i8", "1, 1", []byte{9}, "mask", "does not have 1 bytes"},
		{"<i8", "2,", make([]byte, 16), "mask", "m/a.npy: an array of shape [2]: pixels have height and width"},
		{"<i8", "1, 1", make([]byte, 8), "image", `m/a.npy: an array of "<i8": an image has pixels`},
		{"|u1", "2, 1", []byte{7, 255}, "image", "uint8 [2 1 1] [7 255]"},
	} {
		literal := "{'descr': '" + c.descr + "', 'fortran_order': False, 'shape': (" + c.shape + "), }"
		array := append([]byte("\x93NUMPY\x01\x00"), byte(len(literal)), 0)
		root := foldertest.Files(t, map[string]string{"i/a.png": "png", "m/a.npy": string(array) + literal + string(c.elements)})
		d := open(t, root, folder.Config{Fields: []string{"x=m/{stem}.npy,kind=" + c.kind}})
		var s formats.Sample
		var got string
		if err := d.Read(0, &s); err != nil {
			got = err.Error()
		} else {
			v := &s.Values[len(s.Values)-1]
			got = fmt.Sprintf("%s %v %v", v.DType, v.Shape, v.Data)
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s (%s): %s, want %s", c.descr, c.shape, got, c.want)
		}
		foldertest.Must(t, d.Close())
	}
}

func TestFieldErrors(t *testing.T) {
	root := foldertest.Files(t, map[string]string{"images/a.png": "png", "masks/b.png": "png"})
	for field, want := range map[string]string{
		"mask":                          "write NAME=PATTERN",
		"mask=masks/all.png":            "names the same file for each sample",
		"mask=../{key}.png":             "not a path in the source's folder",
		"mask=/{key}.png":               "not a path in the source's folder",
		"mask={name}.png":               "use {key}, {stem}",
		"depth={key}_d.png":             "kind=mask",
		"m=masks/{key}.png,kind=label":  `kind "label"`,
		"a b={key}.txt":                 "field name",
		"mask=masks/{key}.png":          "1 files have this form, such as masks/b.png, but they belong to no image",
		"mask=segmentation/{key}.png":   "no file has this form",
		"image={key}.jpg":               "no image to read",
		"image=images/{key}.png,kind=x": "of kind image",
		"mask={key}*.*.*.*.*.png":       "more than 4 *",
	} {
		d, err := folder.Open(context.Background(), root, folder.Config{Fields: []string{field}})
		if err == nil {
			foldertest.Must(t, d.Close())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
	for _, list := range [][]string{{"none", "mask=m/{key}.png"}, {"m=a/{key}.txt", "m=b/{key}.txt"}} {
		if _, err := folder.Open(context.Background(), root, folder.Config{Fields: list}); err == nil {
			t.Error(list, "is no error")
		}
	}
}

func open(t *testing.T, root string, cfg folder.Config) *folder.Dataset {
	t.Helper()
	d, err := folder.Open(context.Background(), root, cfg)
	foldertest.Must(t, err)
	return d
}
