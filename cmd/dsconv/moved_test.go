package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// copyNames returns the name of a dataset's copy: another word, and another width of the shard number.
var copyNames = strings.NewReplacer("out", "copy", "three-%03d", "copy_%05d", "x.", "copy.", "%02d", "%04d")

// copyDataset copies a dataset as cp would, file by file.
func copyDataset(t *testing.T, from, to string) {
	t.Helper()
	p, err := sharded.ParseShardPath(from)
	must(t, err)
	q, err := sharded.ParseShardPath(to)
	must(t, err)
	if durable.IsDir(from) {
		copyTree(t, to, from)
		return
	}
	for i := 0; ; i++ {
		file := filepath.Join(p.Dir, p.Name(i))
		if _, err := os.Stat(file); err != nil || i > 0 && !p.IsPattern() {
			break
		}
		must(t, os.WriteFile(filepath.Join(q.Dir, q.Name(i)), read(t, file), 0o644))
	}
	if durable.IsDir(p.Sidecar()) {
		copyTree(t, q.Sidecar(), p.Sidecar())
	}
}

// TestWrittenAndRenamed copies each dataset of earlier versions under another name beside itself. The
// copy can be read, edited, repaired and packed like any other, and the original never changes. A quick run takes all
// datasets of one version, and of the others one of each format.
func TestWrittenAndRenamed(t *testing.T) {
	archives, err := filepath.Glob("../../testdata/written/*.tar.zst")
	must(t, err)
	for i, archive := range archives {
		name := strings.TrimSuffix(filepath.Base(archive), ".tar.zst")
		t.Run(name, func(t *testing.T) {
			w := newWritten(t, archive)
			if i > 0 && quick() || testing.Short() {
				maps.DeleteFunc(w.expected, func(name string, _ formatcheck.Description) bool { return !strings.HasPrefix(name, "keep/") })
			}
			w.each(t, func(t *testing.T, name string) {
				path := w.copyOf(t, name)
				c := &renamed{w: w, name: name, path: filepath.Join(filepath.Dir(path), copyNames.Replace(filepath.Base(path)))}
				copyDataset(t, path, c.path)
				c.test(t)
			})
		})
	}
}

// renamed is a copy of a dataset, beside it, under another name.
type renamed struct {
	w    *written
	name string // of the dataset in w
	path string
}

func (c *renamed) test(t *testing.T) {
	first := c.others(t)
	if got := described(t, c.path); !reflect.DeepEqual(got, c.w.expected[c.name]) {
		t.Errorf("it reads as\n%+v\nwanted\n%+v", got, c.w.expected[c.name])
	}
	succeeds(t, "verify", c.path)
	succeeds(t, "verify", "--quick", c.path)
	if !cgo {
		return
	}
	want := without(c.w.expected[c.name].Samples, c.w.expected[c.name].Samples[1].Key)
	if variant, _, _ := strings.Cut(c.name, "/"); slices.Contains([]string{"keep", "tiled", "raw-equal", "zstd"}, variant) {
		b := read(t, c.dataFile())
		poke(t, c.dataFile(), len(b)/2, ^b[len(b)/2])
		succeeds(t, "verify", c.path, "--repair", c.w.path("images"))
		c.ownNames(t)
	}
	succeeds(t, "rm", c.path, "--key", c.w.expected[c.name].Samples[1].Key, "--quiet")
	succeeds(t, "verify", c.path)
	if got := described(t, c.path).Samples; !reflect.DeepEqual(got, want) {
		t.Error("the edit changed other samples")
	}
	c.ownNames(t)
	args := []string{"pack", c.w.path("flat"), c.path, "--force", "--quiet"}
	if strings.Contains(c.path, "%") {
		args = append(args, "--shard-count=2")
	}
	succeeds(t, args...)
	succeeds(t, "verify", c.path)
	if now := c.others(t); !maps.Equal(now, first) {
		t.Errorf("the first dataset was changed: %q, was %q", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(first)))
	}
	if rest, err := filepath.Glob(filepath.Join(filepath.Dir(c.path), "copy*")); err != nil || len(rest) > 4 {
		t.Errorf("%q is left of the copy: %v", rest, err)
	}
}

// others returns the files beside the copy.
func (c *renamed) others(t *testing.T) map[string]string {
	t.Helper()
	files := formatcheck.Tree(t, filepath.Dir(c.path))
	maps.DeleteFunc(files, func(name, _ string) bool { return strings.HasPrefix(name, "copy") })
	return files
}

func (c *renamed) dataFile() string {
	if strings.HasSuffix(c.path, ".lmdb") {
		return filepath.Join(c.path, "data.mdb")
	}
	p, _ := sharded.ParseShardPath(c.path)
	return filepath.Join(p.Dir, p.Name(0))
}

// ownNames checks that the copy's metadata has only the copy's names.
func (c *renamed) ownNames(t *testing.T) {
	t.Helper()
	p, err := sharded.ParseShardPath(c.path)
	must(t, err)
	if durable.IsDir(c.path) || !durable.IsDir(p.Sidecar()) {
		return
	}
	for _, name := range filesOf(t, p.Sidecar()) {
		if strings.HasPrefix(name, "x") || strings.HasPrefix(name, "three") {
			t.Errorf("%s is left of the old name", name)
		}
	}
	var meta struct{ Files []string }
	must(t, json.Unmarshal(read(t, filepath.Join(p.Sidecar(), "dataset.json")), &meta))
	for i, name := range meta.Files {
		if name != p.Name(i) {
			t.Errorf("dataset.json names %s", name)
		}
	}
	wids, err := os.ReadFile(filepath.Join(p.Sidecar(), "wids.json"))
	if err == nil && !strings.Contains(string(wids), fmt.Sprintf("%q", "../"+p.Name(0))) {
		t.Errorf("wids.json: %s", wids)
	}
}
