package tables_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func labelsFile(t *testing.T, name, content string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	foldertest.Must(t, os.WriteFile(file, []byte(content), 0o644))
	return file
}

// Tables that other programs and machines wrote give each image the label that they mean.
func TestTablesOfOthers(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/2 x.JPEG", "b/3.png")
	want := "a/1  cat|a/2 x  dog|b/3  cat"
	for name, c := range map[string]struct {
		file, content, notice string
		columns               []string
	}{
		"backslashes":            {"l.csv", "path,label\na\\1.jpg,cat\na\\2 x.JPEG,dog\nb\\3.png,cat\n", "", nil},
		"another machine":        {"l.csv", "path,label\n/home/me/set/a/1.jpg,cat\n/home/me/set/a/2 x.JPEG,dog\n/home/me/set/b/3.png,cat\n", "begin with home/me/set/", nil},
		"Windows":                {"l.csv", "path,label\nC:\\set\\a\\1.jpg,cat\nC:\\set\\a\\2 x.JPEG,dog\nC:\\set\\b\\3.png,cat\n", "begin with C:/set/", nil},
		"a folder above":         {"l.csv", "path,label\nimages/a/1.jpg,cat\n./images/a/2 x.JPEG,dog\nimages/b/3.png,cat\n", "begin with images/", nil},
		"no extensions":          {"l.csv", "path,label\na/1,cat\na/2 x,dog\nb/3,cat\n", "", nil},
		"Kaggle's headers":       {"l.csv", "Image,Id\na/1.jpg,cat\na/2 x.JPEG,dog\nb/3.png,cat\n", `the column "Image" has the paths`, []string{"label=Id"}},
		"both named":             {"l.csv", "Path,Id\na/1.jpg,cat\na/2 x.JPEG,dog\nb/3.png,cat\n", "", []string{"path=Path", "label=Id"}},
		"usual headers":          {"l.tsv", "file name\tClass\na/1.jpg\tcat\na/2 x.JPEG\tdog\nb/3.png\tcat\n", `the column "Class" the labels`, nil},
		"ids":                    {"l.csv", "image_id,category\na/1,cat\na/2 x,dog\nb/3,cat\n", "", nil},
		"path and id":            {"l.csv", "image_id,filename,category_id,class\n7,a/1.jpg,1,cat\n8,a/2 x.JPEG,2,dog\n9,b/3.png,1,cat\n", `"class"`, nil},
		"a JSON list":            {"l.json", `[{"file_name": "a/1.jpg", "label": "cat"}, {"file_name": "a/2 x.JPEG", "label": "dog"},` + "\n" + ` {"file_name": "b/3.png", "label": "cat"}]`, "", nil},
		"a JSON object":          {"l.json", "\ufeff{\"a/1.jpg\": \"cat\", \"a/2 x.JPEG\": \"dog\",\r\n\"b/3.png\": \"cat\"}", "", nil},
		"a JSON list of pairs":   {"l.json", `{"labels": [["a/1.jpg", "cat"], ["a/2 x.JPEG", "dog"], ["b/3.png", "cat"]]}`, "", nil},
		"lines with spaces":      {"l.txt", "a/1.jpg cat\r\na/2 x.JPEG  dog\r\n\r\nb/3.png cat\r\n", "", nil},
		"lines with tabs":        {"l.txt", "a/1.jpg\tcat\t0\t1\na/2 x.JPEG\tdog\t0\t1\nb/3.png\tcat\t0\t1", "", nil},
		"a mark of byte order":   {"l.txt", "\ufeffa/1.jpg cat\na/2 x.JPEG dog\nb/3.png cat", "", nil},
		"JSON Lines, other name": {"l.ndjson", "{\"img\":\"a/1.jpg\",\"target\":\"cat\"}\n{\"img\":\"a/2 x.JPEG\",\"target\":\"dog\"}\n{\"img\":\"b/3.png\",\"target\":\"cat\"}\n", "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := folder.Open(context.Background(), root, folder.Config{Labels: labelsFile(t, c.file, c.content), LabelColumns: c.columns})
			foldertest.Must(t, err)
			if got := strings.Join(foldertest.Rows(t, d), "|"); got != want || len(d.Skips()) != 0 {
				t.Errorf("%q, skipped %v", got, d.Skips())
			}
			if field := d.Meta().Schema[1].Name; field != "label" {
				t.Errorf("the field is named %s", field)
			}
			if notices := strings.Join(d.LabelNotices(), "\n"); !strings.Contains(notices, c.notice) {
				t.Errorf("notices %q", notices)
			}
		})
	}
}

// What could be meant in two ways is an error or a skip that says both.
func TestTablesThatAreAmbiguous(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/1.png", "b/3.png")
	for name, c := range map[string]struct {
		file, content string
		columns       []string
		want          string
	}{
		"two columns of paths":  {"l.csv", "image,filename,label\na/1.jpg,a/1.jpg,x\n", nil, "image, filename may all have the paths"},
		"two columns of labels": {"l.csv", "path,class,category\na/1.jpg,x,y\n", nil, "class, category may all have the labels: choose one with --label-columns label=class"},
		"no such column":        {"l.csv", "path,class\na/1.jpg,x\n", []string{"path=x", "label=class"}, `no column "x" among path, class`},
		"the same column":       {"l.csv", "path,class\na/1.jpg,x\n", []string{"label=path"}, "it cannot have the labels too"},
		"twice":                 {"l.csv", "path,class\na/1.jpg,x\n", []string{"label=class", "label=class"}, "once each"},
		"one-hot columns":       {"l.csv", "path,cat,dog\na/1.jpg,1,0\nb/3.png,0,1\n", nil, "which have 0 and 1 alone: if each is a class, give --label-columns label=cat,label=dog for a multi-hot label"},
		"three of them, named":  {"l.csv", "path,cat,dog,cow\na/1.jpg,1,0,1.0\nb/3.png,0,1,0\n", []string{"cat", "dog", "cow"}, "give --label-columns label=cat,label=dog,label=cow for one multi-hot label; if each is a label of its own, give --label-type index"},
		"one-hot lines":         {"l.txt", "a/1.jpg,1,0,0\nb/3.png,0,1,0\n", nil, "its lines have 3 numbers after the path: say which are labels. --label-columns label=label takes the first alone"},
		"boxes of YOLO's lists": {"l.txt", "a/1.jpg 48,240,195,371,11 8,12,352,498,14\nb/3.png 1,2,3,4,0\n", nil, "a list of numbers and not one label"},
		"lines of numbers":      {"l.txt", "a/1.jpg,48,0.5\nb/3.png,1,2\n", nil, "its lines have 2 numbers after the path"},
		"vectors in lines":      {"l.txt", "a/1.jpg 1 0 0\nb/3.png 0 1 1\n", nil, "--label-sep with what is between them reads one 0 or 1 for each class"},
		"a class that is 2":     {"l.csv", "path,cat,dog\na/1.jpg,1,2\n", []string{"label=cat", "label=dog"}, `line 2: the column dog has "2": a column that is a class has 0 or 1`},
		"a name and a role":     {"l.csv", "path,class,size\na/1.jpg,x,1\n", []string{"label=class", "size"}, "not both"},
		"no column of paths":    {"l.csv", "key,label\na/1.jpg,x\n", nil, "--label-columns path=COLUMN"},
		"the same file":         {"l.csv", "path,label\na/1.jpg,x\na\\1.jpg,y\n", nil, `line 3: the path "a/1.jpg" is a duplicate of line 2`},
		"an object of lists":    {"l.json", `{"images": [1], "annotations": []}`, nil, "not a description"},
		"not JSON":              {"l.json", `{"a": `, nil, "not JSON"},
		"a number":              {"l.json", `7`, nil, "not a description"},
		"a list of numbers":     {"l.json", "[\n7]", nil, "line 2: not a JSON object"},
		"NUL":                   {"l.json", `{"a/1.jpg": "\u0000"}`, nil, "line 1: label has a NUL"},
		"lines of all lengths":  {"l.txt", "a/1.jpg\tx\nb/3.png\tx\ty\n", nil, "line 2: 3 cells, the lines before have 2"},
		"no lines":              {"l.txt", "\n\n", nil, "it is empty"},
	} {
		_, err := folder.Open(context.Background(), root, folder.Config{Labels: labelsFile(t, c.file, c.content), LabelColumns: c.columns})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	d := open(t, root, folder.Config{Labels: labelsFile(t, "l.csv", "path,label\na/1,x\nb/3,y\n")})
	if got := skipped(d); !strings.Contains(got["a/1"], "may be any of 1.jpg, 1.png: write the extension") {
		t.Errorf("%q", got)
	}
	// A prefix is only left out if all paths exist without it.
	_, err := folder.Open(context.Background(), root, folder.Config{Labels: labelsFile(t, "l.csv", "path,label\nx/a/1.jpg,x\nx/b/4.png,y\n")})
	if err == nil || !strings.Contains(err.Error(), "5 skipped") {
		t.Errorf("%v", err)
	}
}

// Some folders have tables, others class folders: one list of classes, in ImageFolder's order.
func TestTablesForFolders(t *testing.T) {
	root := foldertest.Tree(t, "train/b/1.jpg", "train/a/2.jpg", "val/3.jpg", "val/4.jpg", "val/a/5.jpg")
	val := labelsFile(t, "val.csv", "path,label,who\n3.jpg,b,me\nval/a/5.jpg,b,you\n")
	cfg := folder.Config{FolderLabels: map[string]string{"val": val}}
	d := open(t, root, cfg)
	if got := strings.Join(foldertest.Rows(t, d), "|"); got != "train/a/2 train a|train/b/1 train b|val/3 val b|val/a/5 val b" {
		t.Errorf("%q", got)
	}
	if got := skipped(d); got["val/4.jpg"] != "it is not listed in "+val {
		t.Errorf("%q", got)
	}
	if in, err := d.Info(2); err != nil || !slices.Equal(in.Columns, []string{"me"}) {
		t.Errorf("%v, %v", in, err)
	}
	if in, err := d.Info(0); err != nil || !slices.Equal(in.Columns, []string{""}) {
		t.Errorf("%v, %v", in, err)
	}
	if got := d.Meta().Recipe["labels:val"]; got != val {
		t.Errorf("recipe %q", d.Meta().Recipe)
	}
	// All folders may have tables, with other headers, and numbers to predict.
	cfg = folder.Config{FolderLabels: map[string]string{
		"train": labelsFile(t, "t.csv", "filename,target\nb/1.jpg,0.5\na/2.jpg,\n"), "val/": labelsFile(t, "v.tsv", "label\tpath\n-1.5\t3.jpg\n"),
	}, LabelType: "float"}
	d = open(t, root, cfg)
	if got := d.LabelColumns(); d.Len() != 3 || len(got) != 1 || got[0].Summary != "label: numbers from -1.5 to 0.5 (float32); 1 without a label" {
		t.Errorf("%d images, %v", d.Len(), got)
	}
}

func TestIndicesOfClassFolders(t *testing.T) {
	root := foldertest.Tree(t, "train/10/1.jpg", "train/9/2.jpg", "train/x/2.jpg", "val/3.jpg", "val/4.jpg")
	for _, c := range []struct{ labels, typ, want string }{
		{"0,1", "", "no class folder has such a name"},
		{"0,1", "index", "val/3 val 10|val/4 val 9"},
		{"9,10", "", "val/3 val 9|val/4 val 10"},
		{"9,-1", "", "val/3 val 9|val/4 val"},
		{"0,-1", "index", "val/3 val 10|val/4 val"},
		{"3,0", "index", `line 1: "3" is not the index of a class folder: these are 0 to 2`},
		{"x,y", "", `line 2: no class folder has the name "y"`},
		{"x,9", "float", "numbers to predict"},
	} {
		first, second, _ := strings.Cut(c.labels, ",")
		table := labelsFile(t, "val.txt", fmt.Sprintf("3.jpg %s\n4.jpg %s\n", first, second))
		d, err := folder.Open(context.Background(), root, folder.Config{FolderLabels: map[string]string{"val": table}, LabelType: c.typ})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s %s: %v", c.labels, c.typ, err)
			}
			continue
		}
		if got := strings.Join(foldertest.Rows(t, d)[3:], "|"); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.labels, c.typ, got, c.want)
		}
		if got := d.Meta().Classes(); !slices.Equal(got, []string{"10", "9", "x"}) {
			t.Errorf("%s %s: classes %q", c.labels, c.typ, got)
		}
	}
	table := labelsFile(t, "val.txt", "3.jpg 0\n4.jpg 1\n")
	_, err := folder.Open(context.Background(), root, folder.Config{FolderLabels: map[string]string{"val": table}, Patterns: formats.Patterns{Include: []string{"val/*"}}})
	if err == nil || !strings.Contains(err.Error(), "Folders that --include leaves out are classes too; --exclude FOLDER leaves out the class") {
		t.Errorf("%v", err)
	}
	order := labelsFile(t, "classes.txt", "x\ny\n9\n10\n")
	table = labelsFile(t, "val.txt", "3.jpg x\n4.jpg y\n")
	d := open(t, root, folder.Config{FolderLabels: map[string]string{"val": table}, ClassOrder: order})
	if got := d.Meta().Classes(); !slices.Equal(got, []string{"x", "y", "9", "10"}) {
		t.Errorf("%q", got)
	}
}

// Tiny ImageNet has its validation images one folder deeper than their names.
func TestTinyImageNet(t *testing.T) {
	root := foldertest.Tree(t, "train/n01443537/images/n01443537_0.JPEG", "train/n01629819/images/n01629819_0.JPEG", "val/images/val_0.JPEG", "val/images/val_1.JPEG")
	file := filepath.Join(root, "val/val_annotations.txt")
	foldertest.Must(t, os.WriteFile(file, []byte("val_0.JPEG\tn01629819\t0\t32\t44\t62\nval_1.JPEG\tn01443537\t52\t55\t57\t59\n"), 0o644))
	d := open(t, root, folder.Config{FolderLabels: map[string]string{"val": file}})
	if got := strings.Join(foldertest.Rows(t, d)[2:], "|"); got != "val/images/val_0 val n01629819|val/images/val_1 val n01443537" {
		t.Errorf("%q", got)
	}
	if got := d.Meta().Classes(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}

func TestConfigsOfFolderLabels(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg")
	table := labelsFile(t, "l.csv", "path,label\n1.jpg,a\n")
	for _, c := range []struct {
		cfg  folder.Config
		want string
	}{
		{folder.Config{FolderLabels: map[string]string{"": table}}, "give a folder"},
		{folder.Config{FolderLabels: map[string]string{"a": table, "./a": table}}, "two files"},
		{folder.Config{FolderLabels: map[string]string{"a": table}, Labels: labelsFile(t, "x.csv", "path,label\na/1.jpg,b\n")}, "is listed in"},
	} {
		if _, err := folder.Open(context.Background(), root, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v", c.cfg, err)
		}
	}
}

func TestParquetTables(t *testing.T) {
	root := foldertest.Tree(t, "1.jpg", "2.jpg")
	file := filepath.Join(t.TempDir(), "l.parquet")
	type row struct {
		Image string `parquet:"image"`
		Class string `parquet:"class"`
	}
	foldertest.Must(t, parquet.WriteFile(file, []row{{"1.jpg", "x"}, {"2.jpg", "y"}}))
	d := open(t, root, folder.Config{Labels: file})
	if got := strings.Join(foldertest.Rows(t, d), "|"); got != "1  x|2  y" {
		t.Errorf("%q", got)
	}
	rows, err := folder.ReadRows(file, "image")
	foldertest.Must(t, err)
	if got := rows.Rows["2.jpg"]; !slices.Equal(got, []string{"y"}) {
		t.Errorf("%q", got)
	}
}
