package folder

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func openList(t *testing.T, file string, cfg Config) *Dataset {
	t.Helper()
	d, err := OpenList(context.Background(), file, cfg)
	foldertest.Must(t, err)
	return d
}

type parquetRow struct {
	Path  string   `parquet:"path"`
	Label string   `parquet:"label"`
	Age   int64    `parquet:"age"`
	Tags  []string `parquet:"tags,list"`
}

// A list gives the images that it lists, in whatever folders they are, with keys from the folder above all.
func TestLists(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/2.jpg", "b/c/3.png", "b/not listed.jpg", "lists/", "link -> b")
	elsewhere := foldertest.Tree(t, "4.jpg")
	here := filepath.Join(root, "lists")
	absolute := filepath.Join(root, "b/c/3.png")
	rows := []parquetRow{{Path: "../a/1.jpg", Label: "cat", Age: 3}, {Path: "../a/2.jpg", Label: "dog", Age: 4}, {Path: absolute, Label: "cat", Age: 5}}
	foldertest.Must(t, parquet.WriteFile(filepath.Join(here, "l.parquet"), rows))
	for name, content := range map[string]string{
		"l.csv":   "path,label,age\n../a/1.jpg,cat,3\n../a/2.jpg,dog,4\n" + absolute + ",cat,5\n",
		"l.jsonl": `{"path":"../a/1.jpg","label":"cat","age":3}` + "\n" + `{"path":"../a/2.jpg","label":"dog","age":4}` + "\n" + `{"path":"` + absolute + `","label":"cat","age":5}`,
		"l.json":  `[{"path":"../a/1.jpg","label":"cat","age":3},{"path":"../a/2.jpg","label":"dog","age":4},{"path":"` + absolute + `","label":"cat","age":5}]`,
		"l.txt":   "../a/1.jpg cat\n../a/2.jpg dog\n" + absolute + " cat\n",
	} {
		foldertest.Must(t, os.WriteFile(filepath.Join(here, name), []byte(content), 0o644))
	}
	for _, name := range []string{"l.csv", "l.jsonl", "l.json", "l.txt", "l.parquet"} {
		d := openList(t, filepath.Join(here, name), Config{})
		if got := strings.Join(foldertest.Rows(t, d), "|"); got != "a/1  cat|a/2  dog|b/c/3  cat" || len(d.Skips()) != 0 {
			t.Errorf("%s: %q, skipped %v", name, got, d.Skips())
		}
		in, err := d.Info(1)
		foldertest.Must(t, err)
		if name != "l.txt" && !slices.Equal(in.Columns, []string{"4"}) {
			t.Errorf("%s: columns %q", name, in.Columns)
		}
		var s formats.Sample
		foldertest.Must(t, d.Read(2, &s))
		if string(s.Values[0].Data) != foldertest.JPEGHead+"b/c/3.png" {
			t.Errorf("%s: %q", name, s.Values[0].Data)
		}
		if !(ListFormat{}).Match(filepath.Join(here, name)) {
			t.Errorf("%s is no list", name)
		}
	}
	// Without labels the class is the folder; links are other folders; other columns are kept.
	plain := filepath.Join(here, "paths.lst")
	foldertest.Must(t, os.WriteFile(plain, []byte("../a/1.jpg\n../link/not listed.jpg\n"), 0o644))
	d := openList(t, plain, Config{})
	if got := strings.Join(foldertest.Rows(t, d), "|"); got != "a/1  a|link/not listed  link" {
		t.Errorf("%q", got)
	}
	foldertest.Must(t, os.WriteFile(plain, []byte("../a/1.jpg\n"+filepath.Join(elsewhere, "4.jpg")+"\n"), 0o644))
	if d = openList(t, plain, Config{}); d.Len() != 2 || !strings.HasSuffix(foldertest.Rows(t, d)[0], filepath.Base(root)) && !strings.Contains(foldertest.Rows(t, d)[0], "/a/1") {
		t.Errorf("%q", foldertest.Rows(t, d))
	}
}

// Each row ends as a sample or as a skip with its reason.
func TestListedFilesThatAreNoSamples(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/x.heic", "a/notes.txt", "a/folder.jpg/", "a/dangling.jpg -> nothing", "a/b.jpg", "a/b.png")
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "a/notes.txt"), []byte("no image"), 0o644))
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "l.csv"), []byte("path\na/1.jpg\na/gone.jpg\na/x.heic\na/notes.txt\na/folder.jpg\na/dangling.jpg\na/b\n/nowhere/at/all.jpg\n"), 0o644))
	d := openList(t, filepath.Join(root, "l.csv"), Config{})
	got := map[string]string{}
	for _, s := range d.Skips() {
		got[filepath.Base(s.Path)] = s.Cause
	}
	for name, want := range map[string]string{
		"gone.jpg": "does not exist", "x.heic": "cannot read heic", "notes.txt": "it is text", "folder.jpg": "is a folder",
		"dangling.jpg": "no such file", "b": "may be any of b.jpg, b.png", "all.jpg": "does not exist",
	} {
		if !strings.Contains(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
	if d.Len() != 1 || len(got) != 7 || len(d.Skips()) != 7 {
		t.Errorf("%d samples, %d skipped: %v", d.Len(), len(d.Skips()), d.Skips())
	}
}

func TestListsOnStandardInput(t *testing.T) {
	root := foldertest.Tree(t, "a b/1.jpg", "c/2.jpg")
	t.Chdir(root)
	for _, text := range []string{
		"a b/1.jpg\nc/2.jpg\n", "./a b/1.jpg\r\n" + filepath.Join(root, "c/2.jpg"), "a b/1.jpg a b\nc/2.jpg c\n"[:0] + "a b/1.jpg\tx\nc/2.jpg\ty\n",
		`{"file_name":"a b/1.jpg","label":"x"}` + "\n" + `{"file_name":"c/2.jpg","label":"y"}`,
	} {
		d := openList(t, "-", Config{Stdin: strings.NewReader(text)})
		if got := strings.Join(foldertest.Rows(t, d), "|"); got != "a b/1  a b|c/2  c" && got != "a b/1  x|c/2  y" || strings.Contains(text, "x") != strings.Contains(got, "x") {
			t.Errorf("%q: %q", text, got)
		}
	}
	for _, c := range []struct {
		file, text, want string
		cfg              Config
	}{
		{"-", "", "it is empty", Config{}},
		{"-", "a.jpg\n\n", "no image to read", Config{}},
		{"-", strings.Repeat("a", 3000) + ".jpg\n", "such as " + strings.Repeat("a", 200) + ": ", Config{}},
		{"-", "a b/1.jpg\na b/1.jpg\n", "duplicate of line 1", Config{}},
		{"-", "a b/1.jpg\n", "leave out --labels", Config{Labels: "x.csv"}},
		{"gone.csv", "", "no such file", Config{}},
		{"-", "{\"x\":1}\n", "no column", Config{}},
		{"-", "\xff\xfea\x00", "UTF-16", Config{}},
	} {
		c.cfg.Stdin = strings.NewReader(c.text)
		if _, err := OpenList(context.Background(), c.file, c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %q: %v, want %q", c.file, c.text, err, c.want)
		}
	}
	if _, err := OpenList(context.Background(), "-", Config{}); err == nil {
		t.Error("no input, no error")
	}
}
