package edit_test

import (
	"os"
	"testing"

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// An edit does nothing if another process has replaced the version that it was planned from: it would
// revert the other process's edit.
func TestEditOfReplacedVersion(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 10)
		path := v.pack(t, f.root, folder.Config{})
		late, end, err := edit.PlanRemoval(ctx, dsconv.Formats(), path, []string{"dog/007"})
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		remove(t, path, "cat/001")
		if err := late(ctx); err == nil {
			t.Error("it ran")
		}
		if got := labelOf(t, path, "cat/001"); got != "" {
			t.Errorf("cat/001 is there again: %s", got)
		}
		if _, err := os.Stat(path + sidecar.PartialSuffix); err == nil {
			t.Error("an unfinished version is left")
		}
		remove(t, path, "dog/007")
	})
}
