package folder

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// listed is all that a dataset says of itself.
type listed struct {
	Meta      *formats.Meta
	Infos     []formats.Info
	Samples   []formats.Sample
	Skips     []formats.Skip
	Ignored   int
	Unmatched formats.Patterns
	Extension []string
	Sums      []int64
}

func listAll(t *testing.T, d *Dataset) listed {
	t.Helper()
	l := listed{Meta: d.Meta(), Skips: d.Skips(), Ignored: d.Ignored(), Unmatched: d.Unmatched(), Extension: d.KeepExtension()}
	for i := range d.Len() {
		in, err := d.Info(i)
		foldertest.Must(t, err)
		var s formats.Sample
		foldertest.Must(t, d.Read(i, &s))
		l.Infos, l.Samples, l.Sums = append(l.Infos, in), append(l.Samples, s), append(l.Sums, d.LabelSum(i, &in))
	}
	return l
}

// fileSystems returns the folder at root as file systems of all kinds.
func fileSystems(t *testing.T, root string) map[string]fs.FS {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	m := fstest.MapFS{}
	foldertest.Must(t, filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		if err != nil || rel == "." {
			return err
		}
		st, err := os.Stat(path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		if e.IsDir() {
			m[name] = &fstest.MapFile{Mode: fs.ModeDir | 0o755}
			_, err := w.Create(name + "/")
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		m[name] = &fstest.MapFile{Data: data, ModTime: st.ModTime()}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Modified: st.ModTime(), Method: zip.Deflate})
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return err
	}))
	foldertest.Must(t, w.Close())
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	foldertest.Must(t, err)
	return map[string]fs.FS{"DirFS": os.DirFS(root), "MapFS": m, "zip": z}
}

// Datasets of a Tree equal those of the same folder on the disk.
func TestTreeEqualsOpen(t *testing.T) {
	when := time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)
	classes := []string{"cat/2.jpg", "cat/10.jpg", "dog/1.png", "dog/1.jpg", "dog/x.heic", "dog/notes.txt", "stray.jpg", "empty/", "dog/deep/3.jpg"}
	for name, c := range map[string]struct {
		files []string
		texts map[string]string
		cfg   Config
	}{
		"classes":     {files: classes},
		"patterns":    {files: classes, cfg: Config{Patterns: formats.Patterns{Include: []string{"cat/**", "none/**"}, Exclude: []string{"**/10.*"}}}},
		"natural":     {files: []string{"c10/a.jpg", "c2/b.jpg"}, cfg: Config{ClassOrder: "natural"}},
		"class order": {files: []string{"a/1.jpg", "b/2.jpg"}, texts: map[string]string{"order.txt": "b\na\n"}, cfg: Config{ClassOrder: "order.txt"}},
		"splits":      {files: []string{"train/a/1.jpg", "train/b/2.jpg", "val/a/3.jpg", "val/b/"}},
		"table": {
			files: []string{"img/1.jpg", "img/2.jpg", "img/unlisted.jpg"},
			texts: map[string]string{"sub/labels.csv": "path,label,note\nimg/1.jpg,cat,x\nimg/2.jpg,dog,y\nimg/3.jpg,dog,z\n../4.jpg,cat,\n"},
			cfg:   Config{Labels: "sub/labels.csv"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := foldertest.Tree(t, c.files...)
			for name, text := range c.texts {
				foldertest.Must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755))
				foldertest.Must(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o644))
			}
			foldertest.Must(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, _ error) error { return os.Chtimes(path, when, when) }))
			t.Chdir(root) // so that the names of tables are the same
			want := listAll(t, open(t, ".", c.cfg))
			for kind, fsys := range fileSystems(t, root) {
				d, err := OpenTree(context.Background(), foldertest.AsTree(fsys), c.cfg)
				foldertest.Must(t, err)
				if diff := cmp.Diff(want, listAll(t, d), cmpopts.IgnoreUnexported(formats.Value{}, formats.Sample{})); diff != "" {
					t.Errorf("%s differs:\n%s", kind, diff)
				}
			}
		})
	}
}

// Errors name the file and keep their cause.
func TestTreeErrors(t *testing.T) {
	ctx := context.Background()
	if _, err := OpenTree(ctx, foldertest.AsTree(os.DirFS(filepath.Join(t.TempDir(), "gone"))), Config{}); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a missing folder:", err)
	}
	m := fstest.MapFS{"a/1.jpg": {Data: []byte(foldertest.JPEGHead)}, "b/2.jpg": {Data: []byte(foldertest.JPEGHead)}}
	if _, err := OpenTree(ctx, foldertest.AsTree(m), Config{Labels: "none.csv"}); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a missing table:", err)
	}
	d, err := OpenTree(ctx, foldertest.AsTree(m), Config{})
	foldertest.Must(t, err)
	delete(m, "a/1.jpg")
	m["b/2.jpg"] = &fstest.MapFile{Data: []byte(foldertest.JPEGHead + "more")}
	var s formats.Sample
	if err := d.Read(0, &s); !errors.Is(err, fs.ErrNotExist) || !bytes.Contains([]byte(err.Error()), []byte("a/1.jpg")) {
		t.Error("a file that is gone:", err)
	}
	if err := d.Read(1, &s); err == nil || !strings.Contains(err.Error(), "it changed since it was listed") {
		t.Error("a file that changed:", err)
	}
}

// A link to a folder above ends in no loop, whatever the file system.
func TestTreeLoop(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/up -> ..")
	loops := map[string]fs.FS{
		"DirFS": os.DirFS(root),
		"MapFS": fstest.MapFS{"a/1.jpg": {Data: []byte(foldertest.JPEGHead)}, "a/up": {Data: []byte("."), Mode: fs.ModeSymlink}, "a/here": {Data: []byte("../a"), Mode: fs.ModeSymlink}},
	}
	for name, fsys := range loops {
		d, err := OpenTree(context.Background(), foldertest.AsTree(fsys), Config{})
		foldertest.Must(t, err)
		if d.Len() != 1 || len(d.Skips()) == 0 {
			t.Errorf("%s: %d samples, skips %v", name, d.Len(), d.Skips())
		}
	}
}

// Reads from many goroutines give every sample its own bytes.
func TestTreeConcurrentReads(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/2.jpg", "b/3.jpg", "b/4.jpg")
	for _, kind := range slices.Sorted(maps.Keys(fileSystems(t, root))) {
		d, err := OpenTree(context.Background(), foldertest.AsTree(fileSystems(t, root)[kind]), Config{})
		foldertest.Must(t, err)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				var s formats.Sample
				for n := range 40 {
					i := n % d.Len()
					if err := d.Read(i, &s); err != nil || !bytes.HasSuffix(s.Values[0].Data, []byte(s.Source.Path)) {
						t.Errorf("%s: sample %d: %q, %v", kind, i, s.Values[0].Data, err)
					}
				}
			})
		}
		wg.Wait()
	}
}
