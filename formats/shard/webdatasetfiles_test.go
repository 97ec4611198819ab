package shard_test

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// TestSplits: the names of tars, or of their folders, are splits; keys stay as they are.
func TestSplits(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for name, c := range map[string]struct {
		tars       []string
		path, want string
	}{
		"timm's":             {[]string{"in1k-train-0000.tar", "in1k-validation-0000.tar"}, ".", "[{train 2} {validation 2}] a0 b0"},
		"plain names":        {[]string{"train.tar", "val.tar"}, ".", "[{train 2} {val 2}] a0 b0"},
		"a pattern":          {[]string{"train-0.tar", "train-1.tar", "val-0.tar"}, "train-*.tar", "[{train 4}] a0"},
		"none":               {[]string{"a.tar", "b-latest.tar"}, ".", "[] a0 b0"},
		"capital letters":    {[]string{"Train/a.tar", "Val/b.tar"}, ".", "[{train 2} {val 2}] a0 b0"},
		"other words":        {[]string{"training/a.tar", "testing/a.tar"}, ".", "[{testing 2} {training 2}] b0 a0"},
		"a pattern of these": {[]string{"train/a.tar", "val/a.tar"}, "*/a.tar", "[{train 2} {val 2}] a0 b0"},
		"only one has one":   {[]string{"a.tar", "val.tar"}, ".", "!the name of val.tar has a split (val), that of a.tar has none"},
		"a shard is missing": {[]string{"train-0.tar", "train-2.tar"}, "train-{0..2}.tar", "!train-1.tar: there is nothing at that path, but the pattern names it"},
		"a dot in the image": {[]string{"lr.tar"}, "lr.tar", "[] a0"},
		"classes come later": {[]string{"0.tar", "x.tar"}, ".", "[] a0 b0"},
	} {
		dir := t.TempDir()
		for k, tar := range c.tars {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, tar)), 0o755))
			var list []tarMember
			for i := range 2 {
				key := fmt.Sprintf("%c%d", 'a'+k, i)
				switch tar {
				case "lr.tar":
					list = append(list, tarMember{key + ".left.jpg", string(photo)}, tarMember{key + ".right.jpg", string(photo)}, tarMember{key + ".cls", "1"})
				case "0.tar":
					list = append(list, tarMember{key + ".jpg", string(photo)})
				default:
					list = append(list, tarMember{key + ".jpg", string(photo)}, tarMember{key + ".cls", "1"})
				}
			}
			tarOf(t, filepath.Join(dir, tar), list...)
		}
		ds, err := dsconv.Open(filepath.Join(dir, c.path))
		if err != nil {
			if why, ok := strings.CutPrefix(c.want, "!"); !ok || !strings.Contains(err.Error(), why) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		got := fmt.Sprint(ds.Meta().Splits)
		for _, s := range ds.Meta().Splits {
			got += " " + firstOf(t, ds, s.Name)
		}
		if len(ds.Meta().Splits) == 0 {
			for i := 0; i < ds.Len(); i += 2 {
				got += " " + readTars(t, ds, i).Key
			}
		}
		if ds.Meta().Format != "webdataset" || got != c.want {
			t.Errorf("%s: %s, %s", name, ds.Meta().Format, got)
		}
		must(t, ds.Close())
	}
}

// firstOf returns the first key of a split.
func firstOf(t *testing.T, ds formats.Dataset, split string) string {
	for i := range ds.Len() {
		if s := readTars(t, ds, i); s.Split == split {
			return s.Key
		}
	}
	return "none"
}

// TestOtherPaths: what is no WebDataset, or cannot be read as one, says what to do.
func TestOtherPaths(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	tarOf(t, filepath.Join(dir, "x-train-0.tar"), pairs(2, "1")...)
	raw, err := os.ReadFile(filepath.Join(dir, "x-train-0.tar"))
	must(t, err)
	out, err := os.Create(filepath.Join(dir, "x.tar.gz"))
	must(t, err)
	z := gzip.NewWriter(out)
	_, err = z.Write(raw)
	must(t, err)
	must(t, z.Close())
	must(t, out.Close())
	for path, want := range map[string]string{
		"x.tar.gz": "decompress it (gunzip), or give --source-format archive",
		"train=DIR/x-train-{0..0}.tar,val=DIR/x-train-0.tar": "put the tars of all splits into one folder",
	} {
		if strings.Contains(path, "DIR") {
			path = strings.ReplaceAll(path, "DIR", dir)
		} else {
			path = filepath.Join(dir, path)
		}
		if _, err := dsconv.Open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", path, err)
		}
	}
	ds, err := dsconv.OpenSources(t.Context(), []string{filepath.Join(dir, "x.tar.gz")}, folder.Config{}, formats.ReadOptions{Format: "archive"})
	if err != nil || ds.Len() != 2 {
		t.Fatalf("as an archive: %v", err)
	}
	must(t, ds.(io.Closer).Close())
}
