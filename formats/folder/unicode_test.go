package folder

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// TestComposedNames: a name in a table, in annotations or of a field's file is that of the image whose name is the same
// text, however Unicode composes it. Files that differ in nothing else are two.
func TestComposedNames(t *testing.T) {
	const disk, other = "e\u0301te\u0301", "\u00e9t\u00e9" // of macOS, and of most others
	coco := `{"images": [{"id": 1, "file_name": "` + other + `.png"}], "annotations": [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 2, 2]}], "categories": [{"id": 1, "name": "a"}]}`
	for name, c := range map[string]struct {
		files map[string]string
		cfg   Config
		want  []string
	}{
		"table":                   {map[string]string{disk + "/a.png": "png", disk + "/" + disk + ".png": "png", "t.csv": "path,label\n" + other + "/a.png,x\n" + other + "/" + other + ".png,y\n"}, Config{Labels: "t.csv"}, []string{disk + "/a  x", disk + "/" + disk + "  y"}},
		"table without extension": {map[string]string{disk + ".png": "png", "t.csv": "path,label\n" + other + ",x\n"}, Config{Labels: "t.csv"}, []string{disk + "  x"}},
		"table, two files": {
			map[string]string{disk + ".png": "png", other + ".png": "png", "t.csv": "path,label\n" + disk + ".png,x\n" + other + ".png,y\n"},
			Config{Labels: "t.csv"},
			[]string{disk + "  x", other + "  y"},
		},
		"two files, without extension": {
			map[string]string{disk + ".png": "png", other + ".png": "png", "t.csv": "path,label\n" + disk + ",x\n" + other + ",y\n"},
			Config{Labels: "t.csv"},
			[]string{disk + "  x", other + "  y"},
		},
		"COCO":  {map[string]string{disk + ".png": "png", "x.json": coco}, Config{Boxes: []string{"x.json"}}, []string{disk + " boxes=16 box_labels=8"}},
		"YOLO":  {map[string]string{"images/" + disk + ".png": "png", "labels/" + other + ".txt": "0 0.5 0.5 0.5 0.5"}, Config{Boxes: []string{"labels/{key}.txt"}}, []string{disk + " boxes=16 box_labels=8"}},
		"masks": {map[string]string{"images/" + disk + ".png": "png", "masks/" + other + "_m.png": "png"}, Config{Fields: []string{"mask=masks/{key}_*.png"}}, []string{disk + " mask=png"}},
		"texts of two files": {
			map[string]string{disk + ".png": "png", other + ".png": "png", disk + ".txt": "1", other + ".txt": "2"},
			Config{Fields: []string{"text={key}.txt"}},
			[]string{disk + " text=1", other + " text=2"},
		},
		"description": {
			map[string]string{
				disk + ".png": "png", "t.csv": "path,label\n" + other + ".png,x\n",
				"t.json": `{"dsconv_labels": 1, "table": "t.csv", "fields": [{"name": "image", "kind": "image"}, {"name": "label", "kind": "label", "classes": ["x"], "column": "label"}]}`,
			},
			Config{Labels: "t.json"},
			[]string{disk + "  x"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Files(t, c.files)
			if entries, err := os.ReadDir(root); err != nil || len(entries) == 1 && len(c.files) > 2 {
				t.Skip("the file system composes names itself")
			}
			for i, file := range c.cfg.Boxes {
				if !strings.Contains(file, "{") {
					c.cfg.Boxes[i] = filepath.Join(root, file)
				}
			}
			if c.cfg.Labels != "" {
				c.cfg.Labels = filepath.Join(root, c.cfg.Labels)
			}
			d := open(t, root, c.cfg)
			defer d.Close()
			if got := foldertest.Values(t, d); !reflect.DeepEqual(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	root := foldertest.Files(t, map[string]string{disk + ".png": "png", "list.txt": other + ".png\n"})
	d, err := OpenList(t.Context(), filepath.Join(root, "list.txt"), Config{})
	foldertest.Must(t, err)
	defer d.Close()
	var s formats.Sample
	foldertest.Must(t, d.Read(0, &s))
	if s.Key != disk {
		t.Errorf("the key of a list is %q", s.Key)
	}
}
