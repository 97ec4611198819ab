package tables_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// A table of which no column is known to have labels must not make a dataset without labels, unsaid.
func TestTablesWithoutLabels(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "b/2.jpg")
	for name, c := range map[string]struct {
		file, content string
		columns       []string
		want          string // rows, or else part of the error
		notice        string
	}{
		"plural":        {"l.csv", "image,labels\na/1.jpg,x\nb/2.jpg,y\n", nil, "a/1  x|b/2  y", `the column "labels" the labels`},
		"both":          {"l.csv", "image,labels,class\na/1.jpg,q,x\nb/2.jpg,r,y\n", nil, "a/1  x|b/2  y", `the column "class" the labels`},
		"other columns": {"l.csv", "image,breed,age\na/1.jpg,x,1\n", nil, "l.csv: no column of labels among breed, age: name it with --label-columns label=COLUMN", ""},
		"named none":    {"l.csv", "image,breed\na/1.jpg,x\nb/2.jpg,y\n", []string{"label="}, "a/1  a|b/2  b", "the class of an image is its folder's"},
		"none and one":  {"l.csv", "image,breed\na/1.jpg,x\n", []string{"label=", "label=breed"}, "name no other one", ""},
		"one and none":  {"l.csv", "image,breed\na/1.jpg,x\n", []string{"label=breed", "label="}, "once each", ""},
		"paths alone":   {"l.txt", "a/1\nb/2\n", nil, "a/1  a|b/2  b", "the class of an image is its folder's"},
	} {
		d, err := folder.Open(context.Background(), root, folder.Config{Labels: labelsFile(t, c.file, c.content), LabelColumns: c.columns})
		if err != nil {
			if c.notice != "" || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if got := strings.Join(foldertest.Rows(t, d), "|"); got != c.want {
			t.Errorf("%s: %q", name, got)
		}
		if got := strings.Join(d.LabelNotices(), "\n"); !strings.Contains(got, c.notice) {
			t.Errorf("%s: notices %q", name, got)
		}
	}
	d := open(t, foldertest.Tree(t, "1.jpg"), folder.Config{})
	if got := strings.Join(d.LabelNotices(), "\n"); !strings.Contains(got, "no labels") {
		t.Errorf("images alone: %q", got)
	}
}
