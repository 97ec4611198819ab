package annotations

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestYAMLNames(t *testing.T) {
	for text, want := range map[string][]string{
		"names: [a, 'b']\n":               {"a", "b"},
		"nc: 2\nnames:\n- a\n- b\nx: 1\n": {"a", "b"},
		"names: {0: a, 1: b}\n":           {"a", "b"},
		"nc: 2\n":                         nil,
	} {
		if got, err := yamlNames(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q: %q %v", text, got, err)
		}
	}
	if _, err := yamlNames("names:\n  1: b\n  0: a\n"); err == nil {
		t.Error("classes out of order")
	}
}

func FuzzAnnotations(f *testing.F) {
	f.Add([]byte(`{"annotations": [{"image_id": 7, "category_id": 18, "bbox": [1, 2, 3.5, 1]}], "images": [{"id": 7, "file_name": "a.png"}]}`))
	f.Add([]byte("<annotation><object><name>a</name></object></annotation>"))
	f.Add([]byte("0 0.5 0.5 1 1\n0 0 0 1 0 1 1"))
	f.Add([]byte("names:\n  0: a\n"))
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 6))); err != nil {
		f.Fatal(err)
	}
	value := formats.Value{Data: b.Bytes()}
	f.Fuzz(func(_ *testing.T, data []byte) {
		v := &VOC{index: map[string]int64{"a": 0}}
		_, _ = v.Parse(data, nil)
		_, _ = new(YOLO).Parse(data, &value)
		_, _ = parseYOLOLine(append(strings.Fields(string(data)), "0"), 8, 6)
		_, _ = yamlNames(string(data))
		c := &cocoImages{files: make([]cocoSource, 1)}
		file := cocoFile{ctx: context.Background(), images: c, annotation: func(int32, *cocoAnnotation) error { return nil }}
		_ = file.readFrom(strings.NewReader(string(data)))
	})
}
