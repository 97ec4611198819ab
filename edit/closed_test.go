package edit_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// A source that was closed is an error that says so, not damage; nothing is changed.
func TestClosedSource(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 4)
		path := v.pack(t, f.root, folder.Config{})
		before := formatcheck.Tree(t, filepath.Dir(path))
		f.put("cat/new.jpg", 77)
		other := v.pack(t, f.root, folder.Config{})
		closed, err := formatOf(t, other).Open(other)
		f.must(err)
		f.must(closed.Close())
		reg, merged := dsconv.Formats(), filepath.Join(t.TempDir(), v.name)
		_, added := edit.Add(ctx, reg, path, closed, edit.AddOptions{})
		_, mergedErr := edit.Merge(ctx, reg, merged, []formats.Dataset{closed}, edit.MergeOptions{})
		_, differ := diff.Run(ctx, open(t, path).Dataset, closed, diff.Options{})
		for name, err := range map[string]error{"add": added, "merge": mergedErr, "diff": differ} {
			if !errors.Is(err, formats.ErrClosed) || errors.Is(err, formats.ErrDamaged) {
				t.Errorf("%s: %v", name, err)
			}
		}
		formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
	})
}
