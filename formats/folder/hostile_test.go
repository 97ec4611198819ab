package folder

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// Files that are none, links that lead astray: nothing is opened, all are named, and the
// images beside them are there.
func TestThingsThatAreNoFiles(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/self.jpg -> self.jpg", "a/self -> self", "a/up -> ../..", "a/etc -> /etc", "a/fifolink.jpg -> fifo.jpg",
		"a/new\nline\x1b[31m.jpg", "a/dir.jpg/2.jpg", "a/dev.png -> /dev/zero", "a/out.jpg -> /etc/hostname")
	foldertest.Must(t, unix.Mkfifo(filepath.Join(root, "a/fifo.jpg"), 0o644))
	foldertest.Must(t, unix.Mkfifo(filepath.Join(root, "a/fifo"), 0o644))
	l, err := net.Listen("unix", filepath.Join(root, "a/s.jpg"))
	foldertest.Must(t, err)
	defer l.Close()
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "a/sparse.jpg"), nil, 0o644))
	foldertest.Must(t, os.Truncate(filepath.Join(root, "a/sparse.jpg"), 1<<40))
	done := make(chan *Dataset, 1)
	go func() {
		d, err := Open(context.Background(), root, Config{})
		if err != nil {
			t.Error(err)
		}
		done <- d
	}()
	var d *Dataset
	select {
	case d = <-done:
	case <-time.After(5 * time.Minute):
		t.Fatal("opening the folder hangs")
	}
	want := map[string]string{
		"a/self.jpg": "too many levels of symbolic links", "a/up": "", "a/fifolink.jpg": "not a regular file", "a/fifo.jpg": "not a regular file",
		"a/s.jpg": "not a regular file", "a/dev.png": "not a regular file", "a/sparse.jpg": "too large for an image",
	}
	delete(want, "a/up") // what lies above the folder is the test's own business
	got := skipped(d)
	for path, cause := range want {
		if !strings.Contains(got[path], cause) || got[path] == "" {
			t.Errorf("%q: %q, want %q", path, got[path], cause)
		}
	}
	keys := strings.Join(foldertest.Rows(t, d), "|")
	for _, key := range []string{"a/1  a", "a/new\nline\x1b[31m  a", "a/dir.jpg/2  a"} {
		if !strings.Contains(keys, key) {
			t.Errorf("%q is missing among %q", key, keys)
		}
	}
}

// Thirty folders whose links lead to the next one by two ways are 2^30 folders by name.
func TestLinksThatMultiply(t *testing.T) {
	root := t.TempDir()
	for i := range 30 {
		dir := filepath.Join(root, fmt.Sprintf("d%02d", i))
		foldertest.Must(t, os.Mkdir(dir, 0o755))
		foldertest.Must(t, os.Symlink(fmt.Sprintf("../d%02d", i+1), filepath.Join(dir, "x")))
		foldertest.Must(t, os.Symlink(fmt.Sprintf("../d%02d", i+1), filepath.Join(dir, "y")))
	}
	foldertest.Must(t, os.Mkdir(filepath.Join(root, "d30"), 0o755))
	foldertest.Must(t, os.WriteFile(filepath.Join(root, "d30/1.jpg"), []byte(foldertest.JPEGHead), 0o644))
	d := open(t, root, Config{})
	if n := d.Len(); n < 1 || n > 100_000 {
		t.Errorf("%d images", n)
	}
	if !strings.Contains(fmt.Sprint(d.Skips()), "too many links") {
		t.Error("the links are not named")
	}
}

// A folder that changes between listing and reading gives errors, not other files' bytes.
func TestReadAfterTheFolderChanged(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "a/2.jpg", "a/3.jpg")
	d := open(t, root, Config{})
	foldertest.Must(t, os.Remove(filepath.Join(root, "a/1.jpg")))
	foldertest.Must(t, os.Mkdir(filepath.Join(root, "a/1.jpg"), 0o755))
	foldertest.Must(t, os.Remove(filepath.Join(root, "a/2.jpg")))
	foldertest.Must(t, os.Symlink("2.jpg", filepath.Join(root, "a/2.jpg")))
	var s formats.Sample
	for i, name := range []string{"a/1.jpg", "a/2.jpg"} {
		if err := d.Read(i, &s); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	foldertest.Must(t, d.Read(2, &s))
}
