package fields

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"
	"image/png"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestDataYAML(t *testing.T) {
	for text, want := range map[string][]string{
		"names: [a, 'b']\n":               {"a", "b"},
		"nc: 2\nnames:\n- a\n- b\nx: 1\n": {"a", "b"},
		"names: {0: a, 1: b}\n":           {"a", "b"},
		"names:\n  1: b\n  0: a\n":        {"a", "b"},
		"nc: 2\n":                         nil,
		"":                                nil,
		"# x\nnames: ['a', # one\n        'b',\n  c]  # all\nnc: 3": {"a", "b", "c"},
		"names: ['a, b', \"c # d\", 'it''s', 1, yes]":               {"a, b", "c # d", "it's", "1", "yes"},
		"names:\n    0: traffic light # x\n    1: 'a: b'\n":         {"traffic light", "a: b"},
		"a: &x [p, q]\nnames: *x\n":                                 {"p", "q"},
	} {
		if got, _, err := parseDataYAML([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"names:\n  0: a\n  2: b\n": "line 2: there is no class 1: the 2 names must have the numbers 0 to 1",
		"names:\n  0: a\n  0: b\n": `mapping key "0" already defined`,
		"names: [a, '']\n":         "line 1: the class 1 has no name",
		"names: [a, [b]]\n":        "names must be a list, or a map",
		"names: coco.names\n":      "names must be a list, or a map",
		"nc: 3\nnames: [a, b]\n":   "nc is 3, but there are 2 names",
		"names: [a, b\n":           "yaml:",
		"kpt_shape: [17]\n":        "kpt_shape is [17]",
		"kpt_shape: [17, 9]\n":     "kpt_shape is [17 9]",
	} {
		if got, _, err := parseDataYAML([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %q %v, want %s", text, got, err, want)
		}
	}
	if _, pose, err := parseDataYAML([]byte("kpt_shape: [24, 3]  # x y visible\n")); err != nil || !reflect.DeepEqual(pose, []int{24, 3}) {
		t.Error(pose, err)
	}
}

func FuzzAnnotations(f *testing.F) {
	f.Add([]byte(`{"annotations": [{"image_id": 7, "category_id": 18, "bbox": [1, 2, 3.5, 1]}], "images": [{"id": 7, "file_name": "a.png"}]}`))
	f.Add([]byte("<annotation><object><name>a</name></object></annotation>"))
	f.Add([]byte("0 0.5 0.5 1 1\n0 0 0 1 0 1 1"))
	f.Add([]byte("names:\n  0: a\nkpt_shape: [2, 3]\n"))
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		f.Fatal(err)
	}
	p := pictureOf(&formats.Value{Data: b.Bytes()})
	f.Fuzz(func(_ *testing.T, data []byte) {
		v := &voc{index: map[string]int64{"a": 0}}
		_, _, _ = v.Parse(data, &p)
		_, _, _ = new(yolo).Parse(data, &p)
		_, _ = new(yolo).parseLine(append(strings.Fields(string(data)), "0"), 8, 6)
		_, _ = (&yolo{pose: []int{2, 3}}).parseLine(append(strings.Fields(string(data)), "0"), 8, 6)
		_, _, _ = parseDataYAML(data)
		c := &cocoImages{files: make([]cocoSource, 1)}
		file := cocoFile{ctx: context.Background(), images: c, annotation: func(int32, *cocoAnnotation) error { return nil }}
		_ = file.readFrom(strings.NewReader(string(data)))
	})
}

// TestSizeOfTurnedImages: with an EXIF orientation that turns an image the swapped size says that it is upright.
func TestSizeOfTurnedImages(t *testing.T) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6)), nil); err != nil {
		t.Fatal(err)
	}
	const exif = "\xff\xe1\x00\x22Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
	plain := formats.Value{Data: b.Bytes()}
	turned := formats.Value{Data: slices.Concat(b.Bytes()[:2], []byte(exif), b.Bytes()[2:])}
	for _, c := range []struct {
		s           size
		v           *formats.Value
		told, warns bool
	}{{size{6, 8}, &plain, false, true}, {size{6, 8}, &turned, true, false}, {size{8, 6}, &turned, true, false}, {size{7, 8}, &turned, true, true}, {size{7, 7}, &turned, false, true}} {
		p := pictureOf(c.v)
		var told bool
		p.Upright, told = p.Tells(int(c.s.h), int(c.s.w))
		if warning, err := c.s.check(&p, nil); err != nil || (warning != "") != c.warns || told != c.told {
			t.Errorf("%v: %q %v, told %v", c.s, warning, err, told)
		}
	}
}
