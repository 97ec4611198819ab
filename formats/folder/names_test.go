package folder

import (
	"context"
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
	f.Add([]byte(cocoText))
	f.Add([]byte("<annotation><object><name>a</name></object></annotation>"))
	f.Add([]byte("0 0.5 0.5 1 1\n0 0 0 1 0 1 1"))
	f.Add([]byte("names:\n  0: a\n"))
	image := formats.Value{Data: []byte(jpegHead)}
	f.Fuzz(func(_ *testing.T, data []byte) {
		v := &voc{index: map[string]int64{"a": 0}}
		_, _ = v.parse(data, nil)
		_, _ = new(yolo).parse(data, &image)
		_, _ = parseYOLOLine(append(strings.Fields(string(data)), "0"), 8, 6)
		_, _ = yamlNames(string(data))
		c := &cocoImages{}
		file := cocoFile{ctx: context.Background(), images: c, annotation: func(int32, *cocoAnnotation) error { return nil }}
		_ = file.readFrom(strings.NewReader(string(data)))
	})
}
