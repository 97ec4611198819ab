package edit_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// Prune never drops the samples of files that the source has but could not read, or excludes: the folder
// itself tells which, the caller need not.
func TestPruneKeepsWhatTheSourceDoesNotKnow(t *testing.T) {
	without := func(f images, gone string) {
		f.must(os.RemoveAll(filepath.Join(f.root, gone)))
	}
	for name, source := range map[string]func(f images) (formats.Dataset, error){
		"a link to a folder above": func(f images) (formats.Dataset, error) {
			without(f, "cat")
			f.must(os.Symlink(".", filepath.Join(f.root, "cat")))
			return folder.Open(context.Background(), f.root, folder.Config{})
		},
		"a link to a disk that is not mounted": func(f images) (formats.Dataset, error) {
			without(f, "cat")
			f.must(os.Symlink(filepath.Join(f.root, "unmounted"), filepath.Join(f.root, "cat")))
			return folder.Open(context.Background(), f.root, folder.Config{})
		},
		"an excluded folder": func(f images) (formats.Dataset, error) {
			return folder.Open(context.Background(), f.root, folder.Config{Patterns: formats.Patterns{Exclude: []string{"cat/"}}})
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := pets(t, 8)
			path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
			without(f, "dog/000.jpg")
			src, err := source(f)
			f.must(err)
			defer src.Close()
			r, err := edit.Add(ctx, dsconv.Formats(), path, src, edit.AddOptions{Prune: true})
			f.must(err)
			if r.Pruned != 1 || r.Absent != 0 || open(t, path).Len() != 15 {
				t.Errorf("%+v, %d samples are left, want 15", r.Added, open(t, path).Len())
			}
		})
	}
}

// A wrapper that hides what a folder could not read is not pruned by.
func TestPruneByAWrappedFolder(t *testing.T) {
	f := pets(t, 4)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	f.must(os.Remove(filepath.Join(f.root, "dog/000.jpg")))
	wrapped := struct{ formats.Dataset }{openFolder(t, f.root, folder.Config{})}
	_, err := edit.Add(ctx, dsconv.Formats(), path, wrapped, edit.AddOptions{Prune: true})
	if err == nil || !strings.Contains(err.Error(), "formats.Incomplete") {
		t.Errorf("pruned by a wrapper that cannot tell what was not read: %v", err)
	}
	if r, err := edit.Add(ctx, dsconv.Formats(), path, wrapped, edit.AddOptions{}); err != nil || r.Absent != 1 {
		t.Errorf("added without pruning: %+v, %v", r, err)
	}
}
