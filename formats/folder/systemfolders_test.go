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

// Images in hidden and system folders are left out, counted and named, unless a pattern names the folder.
func TestSystemFolders(t *testing.T) {
	files := []string{
		"cat/1.jpg", "dog/2.jpg", "cat/.ipynb_checkpoints/1-checkpoint.jpg", "cat/@eaDir/1.jpg/thumb.jpg", "cat/@eaDir/1.jpg/small.jpg",
		"__MACOSX/cat/1.jpg", ".Trash-1000/files/3.png", "system volume information/4.gif", ".git/objects/x",
	}
	left := []SystemFolder{
		{".Trash-1000", 1}, {"__MACOSX", 1}, {"cat/.ipynb_checkpoints", 1}, {"cat/@eaDir", 2}, {"system volume information", 1},
	}
	without := func(path string) (list []SystemFolder) {
		for _, f := range left {
			if f.Path != path {
				list = append(list, f)
			}
		}
		return list
	}
	plain := []string{"cat/1  cat", "dog/2  dog"}
	for name, c := range map[string]struct {
		patterns formats.Patterns
		listed   []string
		left     []SystemFolder
	}{
		"none":            {listed: plain, left: left},
		"all files":       {formats.Patterns{Include: []string{"*"}}, plain, left},
		"all folders":     {formats.Patterns{Include: []string{"**/*", "*/"}}, plain, left},
		"one is named":    {formats.Patterns{Include: []string{"*", "/.Trash-1000/"}}, []string{".Trash-1000/files/3  .Trash-1000", "cat/1  cat", "dog/2  dog"}, without(".Trash-1000")},
		"by a wildcard":   {formats.Patterns{Include: []string{"cat/@*/**"}}, []string{"cat/@eaDir/1.jpg/small  cat", "cat/@eaDir/1.jpg/thumb  cat"}, nil},
		"not asked for":   {formats.Patterns{Include: []string{"dog/"}}, []string{"dog/2  dog"}, nil},
		"one is excluded": {formats.Patterns{Exclude: []string{"@eaDir"}}, plain, without("cat/@eaDir")},
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t, foldertest.Tree(t, files...), Config{Patterns: c.patterns})
			if got := foldertest.Rows(t, d); !reflect.DeepEqual(got, c.listed) {
				t.Errorf("samples %q, want %q", got, c.listed)
			}
			if got := d.SystemFolders(); !reflect.DeepEqual(got, c.left) {
				t.Errorf("left out %v, want %v", got, c.left)
			}
			if len(d.Skips()) != len(c.left) || d.Ignored() != 0 {
				t.Errorf("skips %v, %d ignored", d.Skips(), d.Ignored())
			}
			for _, f := range c.left {
				if cause := skipped(d)[f.Path]; !strings.Contains(cause, "image(s) in a hidden or system folder") || !strings.Contains(cause, "--include '"+f.Path+"/'") {
					t.Errorf("%s: %q", f.Path, cause)
				}
			}
		})
	}
}

// A table says which files are images, wherever they are.
func TestTableListsSystemFolder(t *testing.T) {
	root := foldertest.Tree(t, ".cache/1.jpg", "a/2.jpg")
	table := filepath.Join(root, "labels.csv")
	foldertest.Must(t, os.WriteFile(table, []byte("path,label\n.cache/1.jpg,x\na/2.jpg,y\n"), 0o644))
	d := open(t, root, Config{Labels: table})
	if got, want := foldertest.Rows(t, d), []string{".cache/1  x", "a/2  y"}; !reflect.DeepEqual(got, want) || len(d.SystemFolders()) > 0 {
		t.Errorf("samples %q, want %q; left out %v", got, want, d.SystemFolders())
	}
}

// Folders without images are no classes, and are named.
func TestEmptyFolders(t *testing.T) {
	for name, c := range map[string]struct{ files, want []string }{
		"classes":  {[]string{"a/1.jpg", "b/", "c/notes.txt", "d/sub/"}, []string{"b", "c", "d"}},
		"splits":   {[]string{"train/x/1.jpg", "val/x/", "val/y/", "val/z/2.jpg", "test/"}, []string{"test", "val/y"}},
		"patterns": {[]string{"a/1.jpg", "b/deep/2.jpg", "c/3.png"}, nil},
		"none":     {[]string{"train/a/1.jpg", "other/2.jpg", "train/b/"}, nil},
	} {
		if got := open(t, foldertest.Tree(t, c.files...), Config{Patterns: formats.Patterns{Exclude: []string{"deep", "*.png"}}}).EmptyFolders(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What macOS writes beside files on other disks is no image; what only has such a name is one.
func TestAppleDouble(t *testing.T) {
	root := foldertest.Tree(t, "cat/1.jpg", "cat/._1.jpg", "cat/._2.jpg", "._dog/3.jpg")
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "cat/._1.jpg"), []byte("\x00\x05\x16\x07\x00\x02\x00\x00Mac OS X"), 0o644))
	d := open(t, root, Config{})
	if got, want := foldertest.Rows(t, d), []string{"cat/._2  cat", "cat/1  cat"}; !reflect.DeepEqual(got, want) {
		t.Errorf("samples %q, want %q", got, want)
	}
	if d.Ignored() != 1 || len(d.Skips()) != 1 {
		t.Errorf("%d ignored, skips %v", d.Ignored(), d.Skips())
	}
}
