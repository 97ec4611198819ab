package durable

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// What belongs to somebody else, or what others may write to, is not this user's own.
func TestCheckOwn(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		mode  os.FileMode
		other bool
		want  string
	}{
		"own":        {0o755, false, ""},
		"group":      {0o775, false, "others may write"},
		"everybody":  {0o777, false, "others may write"},
		"another's":  {0o700, true, "it belongs to "},
		"their file": {0o600, true, "it belongs to "},
	} {
		if c.other && os.Geteuid() != 0 {
			continue // only root can give a file away
		}
		path := filepath.Join(dir, name)
		if strings.HasSuffix(name, "file") {
			must(t, os.WriteFile(path, nil, 0o600))
		} else {
			must(t, os.Mkdir(path, 0o700))
		}
		must(t, os.Chmod(path, c.mode))
		if c.other {
			must(t, os.Chown(path, 65534, 65534))
		}
		f, err := os.Open(path)
		must(t, err)
		if err := CheckOwn(f); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
		must(t, f.Close())
	}
	if left := names(t, dir); len(left) > 5 {
		t.Error(left)
	}
}

// A file that is replaced keeps its mode, its owner and its group.
func TestWriteKeepsRights(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x")
	for _, mode := range []os.FileMode{0o600, 0o640, 0o444, 0o666} {
		must(t, os.RemoveAll(path))
		must(t, os.WriteFile(path, []byte("old"), mode))
		must(t, os.Chmod(path, mode))
		uid := os.Geteuid()
		if uid == 0 {
			uid = 65534
			must(t, os.Chown(path, uid, uid))
		}
		must(t, WriteFile(path, []byte("new")))
		st, err := os.Stat(path)
		must(t, err)
		if st.Mode() != mode || int(st.Sys().(*syscall.Stat_t).Uid) != uid {
			t.Errorf("%v became %v of %d", mode, st.Mode(), OwnerOf(st))
		}
	}
}
