package folder

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// Archives beside images, as in a folder of archives of which some are unpacked, are skipped by name, unless they are left
// out, hidden or shards that dsconv wrote.
func TestArchivesBesideImages(t *testing.T) {
	root := foldertest.Tree(t, "cat/1.jpg", "dog.tar", "train/eel.TAR.GZ", "backup.zip", "x.7z", "._dog.tar", ".git/y.zip", "own.tar", "own.tar.dsconv/checksums", "notes.txt")
	d := open(t, root, Config{Patterns: formats.Patterns{Exclude: []string{"backup.zip"}}})
	got := map[string]bool{}
	for path, cause := range skipped(d) {
		got[path] = strings.Contains(cause, "NAME="+root+"/"+path)
	}
	if want := map[string]bool{"dog.tar": true, "train/eel.TAR.GZ": true, "x.7z": true}; !reflect.DeepEqual(got, want) {
		t.Errorf("skipped %v, want %v", skipped(d), want)
	}
	if d.Ignored() != 5 || len(d.Unmatched().Exclude) > 0 {
		t.Errorf("%d ignored, unmatched %v", d.Ignored(), d.Unmatched())
	}
}
