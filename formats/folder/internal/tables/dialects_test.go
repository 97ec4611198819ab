package tables_test

import (
	"context"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/folder/internal/foldertest"
)

// dialect is a table as some program or dataset has it, for images of these names.
type dialect struct {
	images        string // separated by spaces
	file, content string
	want          string // rows, or else part of the error
	notice        string // part of the notices
}

func checkDialects(t *testing.T, all map[string]dialect) {
	t.Helper()
	for name, c := range all {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Tree(t, strings.Fields(c.images)...)
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
