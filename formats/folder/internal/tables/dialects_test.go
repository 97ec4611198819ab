package tables_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// dialect is a table as some program or dataset has it, for images of these names.
type dialect struct {
	images        string // separated by spaces; ~ is a space in a name
	file, content string
	want          string // rows, or else part of the error
	notice        string // part of the notices
}

func checkDialects(t *testing.T, all map[string]dialect) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Tree(t, strings.Split(strings.NewReplacer(" ", "|", "~", " ").Replace(c.images), "|")...)
			d, err := folder.Open(context.Background(), root, folder.Config{Labels: labelsFile(t, c.file, c.content)})
			if err != nil {
				if c.notice != "" || !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, want %q", err, c.want)
				}
				return
			}
			if got := strings.Join(foldertest.Rows(t, d), "|"); got != c.want {
				t.Errorf("%q, skipped %v", got, d.Skips())
			}
			if got := strings.Join(d.LabelNotices(), "\n"); !strings.Contains(got, c.notice) {
				t.Errorf("notices %q, want %q", got, c.notice)
			}
		})
	}
}

func TestColumnsWithoutNames(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"row numbers":             {"1.jpg 2.jpg", "l.csv", ",path,label\n0,1.jpg,x\n1,2.jpg,y\n", "1  x|2  y", "1 column(s) without a name were left out"},
		"a comma at line ends":    {"1.jpg 2.jpg", "l.csv", "path,label,\n1.jpg,x,\n2.jpg,y,\n", "1  x|2  y", "1 column(s)"},
		"several, between others": {"1.jpg 2.jpg", "l.tsv", "\tpath\t\tlabel\n0\t1.jpg\tq\tx\n1\t2.jpg\tq\ty\n", "1  x|2  y", "2 column(s)"},
	})
}

func TestPathsWithALeadingSlash(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"from the root":          {"a/x/1.jpg b/y/1.jpg", "l.txt", "/a/x/1.jpg 0\n/b/y/1.jpg 1\n", "a/x/1  0|b/y/1  1", "its paths begin with /, which was left out"},
		"some are missing":       {"a/x/1.jpg b/y/1.jpg", "l.txt", "/a/x/1.jpg 0\n/b/y/1.jpg 1\n/b/y/2.jpg 1\n", "a/x/1  0|b/y/1  1", "its paths begin with /"},
		"from the only folder":   {"d/a/x/1.jpg d/b/y/1.jpg", "l.txt", "/a/x/1.jpg 0\n/b/y/1.jpg 1\n", "d/a/x/1  0|d/b/y/1  1", "its paths are those of files in d/"},
		"of another machine":     {"x/1.jpg y/1.jpg", "l.txt", "/home/a/x/1.jpg 0\n/home/a/y/1.jpg 1\n", "x/1  0|y/1  1", "all its paths begin with home/a/"},
		"no such file is there":  {"x/1.jpg", "l.txt", "/a/x/1.jpg 0\n/b/y/1.jpg 1\n", "such as /a/x/1.jpg: it is listed in", ""},
		"missing, in the folder": {"x/1.jpg", "l.txt", "/x/1.jpg 0\n/b/../y/1.jpg 0\n", "x/1  0", "begin with /"},
	})
}

func TestLinesWithAHeader(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"usual words":           {"1.jpg 2.jpg", "l.txt", "image label\n1.jpg zebra\n2.jpg ant\n", "1  zebra|2  ant", "its first line has the names of the columns: image, label"},
		"with tabs":             {"1.jpg 2.jpg", "l.txt", "File Name\tsize\tclass\n1.jpg\t7\tx\n2.jpg\t8\ty\n", "1  x|2  y", "names of the columns"},
		"paths alone":           {"a/1.jpg b/2.jpg", "l.txt", "path\na/1.jpg\nb/2.jpg\n", "a/1  a|b/2  b", "names of the columns: path"},
		"an image of that name": {"1.jpg image.jpg", "l.txt", "image label\n1.jpg zebra\n", "1  zebra|image  label", ""},
		"other words":           {"1.jpg 2.jpg", "l.txt", "picture kind\n1.jpg zebra\n2.jpg ant\n", "1  zebra|2  ant", "label: 1 class(es) only in rows without an image: kind"},
	})
}

func TestSeparatorsOtherThanTheUsual(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"semicolons":              {"1.jpg 2.jpg", "l.csv", "path;label\n1.jpg;x, y\n2.jpg;z\n", "1  x, y|2  z", "its cells are separated by semicolons"},
		"tabs":                    {"1.jpg 2.jpg", "l.csv", "path\tlabel\n1.jpg\tx\n2.jpg\ty\n", "1  x|2  y", "separated by tabs"},
		"commas":                  {"1.jpg 2.jpg", "l.tsv", "path,label\n1.jpg,x\n2.jpg,y\n", "1  x|2  y", "separated by commas"},
		"semicolons in a header":  {"1.jpg 2.jpg", "l.csv", "path,label,a;b\n1.jpg,x,1\n2.jpg,y,2\n", "1  x|2  y", ""},
		"none that is known":      {"1.jpg", "l.csv", "path|label\n1.jpg|x\n", "it has one column, path|label. If it has several, separate them by commas", ""},
		"lines with commas":       {"1.jpg 2.jpg", "l.txt", "1.jpg,x\n2.jpg,y\n", "1  x|2  y", "separated by commas"},
		"paths with commas":       {"a/1,0.jpg b/2.jpg", "l.txt", "a/1,0.jpg\nb/2.jpg\n", "a/1,0  a|b/2  b", ""},
		"lines with fewer commas": {"a/1.jpg", "l.txt", "a/1,x,y\na/2,x\n", "no image to read", ""},
		"no header":               {"1.jpg", "l.csv", "1.jpg,x,7\n", "its first line, with 1.jpg, looks like data, but must have the names of the columns: add such a line before it, for instance by: sed -i '1i path,label,column3' FILE", ""},
		"no header, with tabs":    {"1.jpg", "l.tsv", "1.jpg\tx\n", `sed -i '1i path\tlabel' FILE`, ""},
		"no header, with ;":       {"1.jpg", "l.csv", "1.jpg;x\n", "sed -i '1i path;label' FILE", ""},
	})
}

func TestLabelsOfSeveralWords(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"some":              {"1.jpg 2.jpg 3.jpg", "l.txt", "1 BAE 146\n2 A300\n3 Boeing  7 4\n", "1  BAE 146|2  A300|3  Boeing  7 4", "the first word of each line is the path, and the rest the label"},
		"paths of several":  {"a~b.jpg c.jpg", "l.txt", "a b x\nc y\n", "a b  x|c  y", ""},
		"one image is gone": {"a~b.jpg c.jpg", "l.txt", "a b x\nc d y\nc z\n", "a b  x|c  z", ""},
	})
}

func TestLinesWithoutALabelAmongOthers(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"spaces":              {"a/1.jpg a/2.jpg", "l.txt", "a/1.jpg x\n\na/2.jpg\n", "line 3, a/2.jpg, has no label, but line 1, a/1.jpg x, has one", ""},
		"tabs":                {"a/1.jpg a/2.jpg", "l.txt", "a/1.jpg x\na/2.jpg\ty\n", "line 1, a/1.jpg x, has no label, but line 2", ""},
		"a path with a space": {"a/1~1.jpg a/2.jpg", "l.txt", "a/1 1.jpg\na/2.jpg y\n", "line 1, a/1 1.jpg, has no label", ""},
		"paths with spaces":   {"a/1~1.jpg b/2.jpg", "l.txt", "a/1 1.jpg\nb/2.jpg\n", "a/1 1  a|b/2  b", ""},
	})
}

func TestNamesOfImagesInSubfolders(t *testing.T) {
	table := "path,label\n1.jpg,x\n2.jpg,y\n"
	checkDialects(t, map[string]dialect{
		"one of each name":    {"p/images/1.jpg q/images/2.jpg", "l.csv", table, "p/images/1  x|q/images/2  y", "its names are those of images in folders below, such as q/images/2.jpg"},
		"without extensions":  {"p/1.jpg q/2.jpg", "l.txt", "1 x\n2 y\n", "p/1  x|q/2  y", "its names are those of images in folders below"},
		"some are missing":    {"p/1.jpg q/3.jpg", "l.csv", table, "p/1  x", "label: 1 class(es) only in rows without an image: y"},
		"a name twice":        {"p/1.jpg q/1.jpg q/2.jpg", "l.csv", table, "line 2: 1.jpg may be any of p/1.jpg, q/1.jpg: write the folder before the name, or give a table for each folder", ""},
		"one is as written":   {"1.jpg q/2.jpg", "l.csv", table, "1  x", "only in rows without an image: y"},
		"none":                {"p/3.jpg q/4.jpg", "l.csv", table, `it has paths such as "1.jpg", and images are such as "p/3.jpg"`, ""},
		"folders, not images": {"images/pie/1.jpg images/cake/2.jpg", "l.txt", "pie/1 x\ncake/2 y\n", "images/cake/2  y|images/pie/1  x", "its paths are those of files in images/"},
	})
	root := foldertest.Tree(t, "images/pie/1.jpg", "images/cake/2.jpg")
	foldertest.Must(t, os.Mkdir(filepath.Join(root, "meta"), 0o755))
	d := open(t, root, folder.Config{Labels: labelsFile(t, "l.txt", "pie/1\ncake/2\n")})
	if got := strings.Join(d.LabelNotices(), "\n"); d.Len() != 2 || !strings.Contains(got, "in images/") || !strings.Contains(got, "which is images for all") {
		t.Errorf("beside a folder without images: %d, %q", d.Len(), got)
	}
}

func TestCellsOfMissingValues(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"among numbers": {"1.jpg 2.jpg 3.jpg 4.jpg", "l.csv", "path,label\n1.jpg,0\n2.jpg,nan\n3.jpg,1\n4.jpg,NA\n", "1  0|2 |3  1|4 ", ""},
		"among names":   {"1.jpg 2.jpg 3.jpg", "l.csv", "path,label\n1.jpg,x\n2.jpg,None\n3.jpg,None\n", "1  x|2  None|3  None", `label: 2 row(s) have the class "None"; if that is no class, leave these cells empty`},
	})
}

func TestNumbersFromOne(t *testing.T) {
	checkDialects(t, map[string]dialect{
		"without gaps": {"1.jpg 2.jpg", "l.csv", "path,label\n1.jpg,2\n2.jpg,1\n", "it has all numbers from 1 to 2, and no 0, which class indices begin with. Choose what they are: --label-type name (classes with these names; by number, 1 gets the index 0 and 2 the index 1), index (indices as they are, of 3 classes of which 0 is empty)", ""},
		"with gaps":    {"1.jpg 2.jpg", "l.csv", "path,label\n1.jpg,1\n2.jpg,3\n", "it has 2 different numbers from 1 to 3", ""},
	})
}
