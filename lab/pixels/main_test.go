package main

import (
	"bytes"
	"encoding/json"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOnePassPerLine(t *testing.T) {
	folder := photos(t, 3)
	tests := map[string]struct {
		args    []string
		ready   result
		encodes bool
	}{
		"decode":  {args: []string{"decode", folder}, ready: result{Images: 3}},
		"process": {args: []string{"process", folder, "--resize", "shorter:16", "--encode", "jpeg:90"}, ready: result{Images: 3}, encodes: true},
		"resize":  {args: []string{"resize", "64x48", "32x24", "--times", "7"}, ready: result{Images: 7}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := run(test.args, strings.NewReader("\n\n"), &out); err != nil {
				t.Fatal(err)
			}
			answers := decodeAll(t, &out)
			if len(answers) != 3 {
				t.Fatalf("%d answers to 2 lines, with the first", len(answers))
			}
			for i, r := range answers {
				if r.Images != test.ready.Images {
					t.Errorf("answer %d: %d images", i, r.Images)
				}
				if timed := i > 0; timed != (r.Seconds > 0) || (timed && test.encodes) != (r.BytesOut > 0) {
					t.Errorf("answer %d: %+v", i, r)
				}
			}
		})
	}
}

func TestWrongArguments(t *testing.T) {
	for _, args := range [][]string{
		{"decode"},
		{"stretch", t.TempDir()},
		{"resize", "64x48"},
		{"resize", "64", "32x24"},
		{"process", t.TempDir(), "--encode", "jpeg:101"},
		{"process", t.TempDir(), "--decode", "soon"},
		{"decode", filepath.Join(t.TempDir(), "missing")},
	} {
		if err := run(args, strings.NewReader(""), &bytes.Buffer{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

// photos writes a folder of n JPEGs.
func photos(t *testing.T, n int) string {
	t.Helper()
	folder := t.TempDir()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewNRGBA(image.Rect(0, 0, 64, 48)), nil); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		name := string(rune('a'+i)) + ".jpg"
		if err := os.WriteFile(filepath.Join(folder, name), b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func decodeAll(t *testing.T, out *bytes.Buffer) (answers []result) {
	t.Helper()
	for d := json.NewDecoder(out); d.More(); {
		var r result
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, r)
	}
	return answers
}
