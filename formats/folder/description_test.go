package folder

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// A description that is made up, cut or edited is refused with what is wrong, and claims no memory.
func TestDescriptionsThatLie(t *testing.T) {
	const image = `{"name": "image", "kind": "image"}`
	for name, c := range map[string]struct{ json, table, want string }{
		"no JSON":       {"path,label\n", "", "not a description"},
		"COCO":          {`{"images": [], "annotations": []}`, "", "not a description"},
		"newer":         {`{"dsconv_labels": 2, "table": "t.csv", "fields": [` + image + `]}`, "", "newer"},
		"outside":       {`{"dsconv_labels": 1, "table": "../t.csv", "fields": [` + image + `]}`, "", "in this folder"},
		"no table":      {`{"dsconv_labels": 1, "table": "missing.csv", "fields": [` + image + `]}`, "", "missing.csv"},
		"no image":      {`{"dsconv_labels": 1, "table": "t.csv", "fields": []}`, "path\na.jpg\n", "no field of kind image"},
		"no column":     {`{"dsconv_labels": 1, "table": "t.csv", "split": "part", "fields": [` + image + `]}`, "path\na.jpg\n", `"part"`},
		"no cell":       {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "label"}]}`, "path\na.jpg\n", "no column"},
		"no such class": {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "label", "classes": ["cat"], "column": "x"}]}`, "path,x\na.jpg,dog\n", `unknown class "dog"; the classes are cat`},
		"an index":      {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "label", "classes": ["7", "8"], "column": "x"}]}`, "path,x\na.jpg,1\n", `unknown class "1"; the classes are 7, 8`},
		"past the last": {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "label", "classes": ["7", "8"], "column": "x"}]}`, "path,x\na.jpg,9\n", `unknown class "9"; the classes are 7, 8`},
		"no number":     {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "number", "column": "x"}]}`, "path,x\na.jpg,dog\n", `"dog" is not a number`},
		"a wide label": {
			`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "multihot", "shape": [1099511627776], "sep": ";", "column": "x"}]}`,
			"path,x\na.jpg,5\n", "1099511627776",
		},
		"a narrow label": {
			`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "label", "kind": "multihot", "shape": [1], "classes": ["a", "b"], "sep": ";", "column": "x"}]}`,
			"path,x\na.jpg,b\n", "1 for 2 classes",
		},
		"twice":            {`{"dsconv_labels": 1, "table": "t.csv", "key": "k", "fields": [` + image + `]}`, "path,k\na.jpg,x\nb.jpg,x\n", `same key "x"`},
		"a file elsewhere": {`{"dsconv_labels": 1, "table": "t.csv", "fields": [` + image + `, {"name": "text", "kind": "text", "column": "x"}]}`, "path,x\na.jpg,../../etc/passwd\n", "not a path in the folder"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, content := range map[string]string{"a.jpg": "\xff\xd8\xff", "b.jpg": "\xff\xd8\xff", "labels.json": c.json, "t.csv": c.table} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			_, err := Open(context.Background(), dir, Config{Labels: filepath.Join(dir, "labels.json")})
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// A file beside an image that is gone, or is not what it is said to be, is an error of that sample.
func TestDescribedFilesThatLie(t *testing.T) {
	dir := t.TempDir()
	for file, content := range map[string]string{
		"a.jpg": "\xff\xd8\xff", "b.jpg": "\xff\xd8\xff", "a.boxes.npy": "no array",
		"labels.json": `{"dsconv_labels": 1, "table": "t.csv", "fields": [{"name": "image", "kind": "image"}, {"name": "boxes", "kind": "boxes", "column": "boxes"}]}`,
		"t.csv":       "path,boxes\na.jpg,a.boxes.npy\nb.jpg,b.boxes.npy\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := Open(context.Background(), dir, Config{Labels: filepath.Join(dir, "labels.json")})
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a.boxes.npy", "b.boxes.npy"} {
		if err := ds.Read(i, new(formats.Sample)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("sample %d: %v", i, err)
		}
	}
}
