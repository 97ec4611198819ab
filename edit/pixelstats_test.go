package edit_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats/folder"
)

// An edit drops the statistics, which are of other samples, and says so; a repair keeps them.
func TestPixelStats(t *testing.T) {
	f := pets(t, 5)
	path := filepath.Join(t.TempDir(), "x.tar")
	if _, err := dsconv.Pack(ctx, f.root, path, dsconv.Options{Options: convert.Options{Stats: true}}); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	f.must(err)
	f.must(os.WriteFile(path, append(data[:len(data)/2], make([]byte, len(data)-len(data)/2)...), 0o644))
	src, err := folder.Open(ctx, f.root, folder.Config{})
	f.must(err)
	defer src.Close()
	if r, err := edit.Repair(ctx, dsconv.Formats(), path, src, edit.RepairOptions{}); err != nil || r.StatsDropped {
		t.Fatal(err, r)
	}
	if open(t, path).Meta().PixelStats == nil {
		t.Error("a repair dropped the statistics")
	}
	f.put("cat/zzz.jpg", 99)
	if r := add(t, path, f.root, folder.Config{}); !r.StatsDropped {
		t.Error("not said")
	}
	if s := open(t, path).Meta().PixelStats; s != nil {
		t.Errorf("kept %+v", s)
	}
}
