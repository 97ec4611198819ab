// Package foldertest makes folders for tests, and shows what a dataset has of them.
package foldertest

import (
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// JPEGHead is how the files of Tree begin.
const JPEGHead = "\xff\xd8\xff\xe0"

// Tree makes the files under a new folder; a name that ends in "/" is a folder, "a -> b"
// a link.
func Tree(t *testing.T, names ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, n := range names {
		if link, to, ok := strings.Cut(n, " -> "); ok {
			Must(t, os.Symlink(to, filepath.Join(root, link)))
			continue
		}
		path := filepath.Join(root, n)
		if strings.HasSuffix(n, "/") {
			Must(t, os.MkdirAll(path, 0o755))
			continue
		}
		Must(t, os.MkdirAll(filepath.Dir(path), 0o755))
		Must(t, os.WriteFile(path, []byte(JPEGHead+n), 0o644))
	}
	return root
}

// FileTree is an fs.FS as a folder.Tree.
type FileTree struct{ fs.FS }

// AsTree makes a folder.Tree of an fs.FS.
func AsTree(fsys fs.FS) FileTree { return FileTree{fsys} }

// Stat is that of the fs.FS.
func (t FileTree) Stat(name string) (fs.FileInfo, error) { return fs.Stat(t.FS, name) }

// ReadDir is that of the fs.FS.
func (t FileTree) ReadDir(name string) ([]fs.DirEntry, error) { return fs.ReadDir(t.FS, name) }

// ReadInto reads a file.
func (t FileTree) ReadInto(name string, buf []byte) ([]byte, error) {
	data, err := fs.ReadFile(t.FS, name)
	return append(buf[:0], data...), err
}

// Identify writes nothing.
func (t FileTree) Identify(io.Writer) error { return nil }

// Refused lists nothing.
func (t FileTree) Refused() []formats.Skip { return nil }

func (t FileTree) String() string { return fmt.Sprintf("a tree (%T)", t.FS) }

// Close does nothing.
func (t FileTree) Close() error { return nil }

// Must ends the test at an error.
func Must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Rows is "key split label" of each sample.
func Rows(t *testing.T, d formats.Dataset) []string {
	t.Helper()
	var list []string
	for i := range d.Len() {
		in, err := d.Info(i)
		Must(t, err)
		row := in.Key + " " + in.Split
		if classes := d.Meta().Classes(); in.Label >= 0 {
			row += " " + classes[in.Label]
		}
		list = append(list, row)
	}
	return list
}

// Files writes files with contents under a new folder. The content "png" is a PNG of 8 by 6 pixels.
func Files(t *testing.T, contents map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range contents {
		to := filepath.Join(root, name)
		Must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		if content == "png" {
			content = pngOf(t, 8, 6)
		}
		Must(t, os.WriteFile(to, []byte(content), 0o644))
	}
	return root
}

func pngOf(t *testing.T, w, h int) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for i := range m.Pix {
		m.Pix[i] = color.Gray{Y: uint8(i % 3)}.Y
	}
	var b strings.Builder
	Must(t, png.Encode(&b, m))
	return b.String()
}

// Values is "name=value" of the fields of each sample, after its key, split and label.
func Values(t *testing.T, d formats.Dataset) []string {
	t.Helper()
	rows := Rows(t, d)
	var s formats.Sample
	for i := range rows {
		rows[i] = strings.TrimSpace(rows[i])
		if err := d.Read(i, &s); err != nil {
			rows[i] += " error " + err.Error()
			continue
		}
		for k, f := range d.Meta().Schema {
			if k == 0 || f.Kind.IsLabel() {
				continue
			}
			v := &s.Values[k]
			text := string(v.Data)
			switch {
			case v.Encoding == formats.PNG:
				text = "png"
			case v.Encoding != formats.Plain:
				text = fmt.Sprint(len(v.Data))
			}
			rows[i] += " " + f.Name + "=" + text
		}
	}
	return rows
}
