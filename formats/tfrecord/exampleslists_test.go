package tfrecord_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// TestLists: an empty list is a missing value and no damage; a list is no label.
func TestLists(t *testing.T) {
	image := featureOf("image", bytesOf(photo))
	floats := func(b ...byte) []byte { // each is the last byte of a float: 0x3f with 0x80 before is 1
		var list []byte
		for _, x := range b {
			list = append(list, 0, 0, x&0x80, x&0x3f)
		}
		return field(2, field(1, list))
	}
	for name, c := range map[string]struct {
		examples [][]byte
		m        map[string]string
		want     string // fields, labels and the other values, or an error
	}{
		"a text": {
			[][]byte{exampleWith(image, featureOf("caption", bytesOf("x"))), exampleWith(image, featureOf("caption", bytesOf()))},
			nil,
			"image caption:bytes -1 x, -1 ",
		},
		"of another kind": {
			[][]byte{exampleWith(image, featureOf("caption", intsOf())), exampleWith(image, featureOf("caption", bytesOf("x"))), exampleWith(image, featureOf("caption", floats()))},
			nil,
			"image caption:bytes -1 , -1 x, -1 ",
		},
		"a label":           {[][]byte{exampleWith(image, featureOf("label", intsOf(1))), exampleWith(image, featureOf("label", bytesOf())), exampleWith(image, featureOf("label", intsOf()))}, nil, "image label:label 1, -1, -1"},
		"a number":          {[][]byte{exampleWith(image, featureOf("label", intsOf(1)), featureOf("x", floats(0xbf))), exampleWith(image, featureOf("label", intsOf(1)), featureOf("x", floats()))}, nil, "image label:label x:number 1 1, 1 NaN"},
		"a mask":            {[][]byte{exampleWith(image, featureOf("mask", bytesOf("\x89PNG\r\n\x1a\n"))), exampleWith(image, featureOf("mask", bytesOf()))}, nil, "image mask:mask -1 \x89PNG\r\n\x1a\n; skipped it has no mask"},
		"several values":    {[][]byte{exampleWith(image, featureOf("tags", intsOf(0, 7, 1)))}, map[string]string{"label": "tags"}, "!the feature tags has up to 3 values, and a label is one"},
		"a list of indices": {[][]byte{exampleWith(image, featureOf("label", intsOf(3, 4))), exampleWith(image, featureOf("label", intsOf(1)))}, nil, "image label_2:array -1 [3 4], -1 [1]"},
		"reserved names":    {[][]byte{exampleWith(image, featureOf("index", intsOf(3)), featureOf("key", bytesOf("k")))}, nil, "image index_2:array key_2:bytes -1 [3] k"},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		path := filepath.Join(t.TempDir(), "x.tfrecord")
		var b []byte
		for _, e := range c.examples {
			b = append(b, frameOf(e)...)
		}
		store(t, path, b)
		ds, err := tfrecord.Examples{}.OpenWith(t.Context(), path, formats.ReadOptions{Map: c.m})
		if err != nil {
			if why, ok := strings.CutPrefix(c.want, "!"); !ok || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		got := ""
		for k, f := range ds.Meta().Schema {
			if got += f.Name; k > 0 {
				got += ":" + string(f.Kind)
			}
			got += " "
		}
		var samples []string
		var s formats.Sample
		for i := range ds.Len() {
			in, err := ds.Info(i)
			if err == nil {
				err = ds.Read(i, &s)
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			text := fmt.Sprint(in.Label)
			for k, v := range s.Values {
				switch f := ds.Meta().Schema[k]; {
				case k == 0 || f.Kind == formats.Label:
				case f.Kind == formats.Number:
					x, _ := v.Float32()
					text += fmt.Sprint(" ", x)
				case f.Kind == formats.Array:
					ints := []byte{}
					for at := 0; at < len(v.Data); at += 8 {
						ints = append(ints, v.Data[at])
					}
					text += fmt.Sprintf(" %v", ints)
				default:
					text += " " + string(v.Data)
				}
			}
			samples = append(samples, text)
		}
		got += strings.Join(samples, ", ")
		if skips := ds.(formats.Skipper).Skips(); len(skips) > 0 {
			got += "; skipped " + skips[0].Cause
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		_ = ds.Close()
	}
}
