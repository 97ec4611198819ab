package indexfile

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

func sourceOf(name string, keys ...string) *Source {
	return &Source{ID: sampleindex.NewID([]byte(name)), Count: len(keys), Rows: func(yield func(r *sampleindex.Row) error) error {
		for i, key := range keys {
			r := sampleindex.Row{Location: sampleindex.Location{Offset: int64(i), Length: 1}}
			r.Key = key
			if err := yield(&r); err != nil {
				return err
			}
		}
		return nil
	}}
}

// open makes or opens an index, and returns its first key.
func open(t *testing.T, s *Source) string {
	t.Helper()
	x, err := Open("", s)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	key, err := x.KeyOf(0)
	if err != nil || x.Len() != s.Count {
		t.Errorf("%d samples, %v", x.Len(), err)
	}
	return key
}

func namesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// Without a place for the cache nothing is written to the current folder, or to one named in the wrong way.
func TestNoCache(t *testing.T) {
	for _, c := range []struct{ home, xdg string }{{"", ""}, {"home", ""}, {"", "cache"}, {"/home/x", "cache"}} {
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_CACHE_HOME", c.xdg)
		t.Chdir(t.TempDir())
		if path := cachePath(sampleindex.ID{}) + DescriptionPath(sampleindex.ID{}); path != "" {
			t.Errorf("%+v: the cache is %s", c, path)
		}
		if key := open(t, sourceOf("x", "a", "b")); key != "a" {
			t.Errorf("%+v: the key %s", c, key)
		}
		if names := namesIn(t, "."); len(names) > 0 {
			t.Errorf("%+v: written: %q", c, names)
		}
	}
}

// What lies where the cache should be does not matter, and stays.
func TestCacheInTheWay(t *testing.T) {
	s := sourceOf("x", "a", "b")
	for name, prepare := range map[string]func(cache, path string) error{
		"a file":           func(cache, _ string) error { return os.WriteFile(cache, nil, 0o600) },
		"a file inside":    func(cache, _ string) error { return os.WriteFile(filepath.Join(cache, "dsconv"), nil, 0o600) },
		"a folder":         func(_, path string) error { return os.MkdirAll(path, 0o700) },
		"a link to itself": func(_, path string) error { return os.Symlink(path, path) },
		"a dangling link":  func(cache, _ string) error { return os.Symlink("nowhere/nothing", filepath.Join(cache, "dsconv")) },
	} {
		t.Run(name, func(t *testing.T) {
			cache := filepath.Join(t.TempDir(), "cache")
			t.Setenv("XDG_CACHE_HOME", cache)
			path := cachePath(s.ID)
			switch name {
			case "a file":
			case "a link to itself":
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
			default:
				if err := os.MkdirAll(cache, 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := prepare(cache, path); err != nil {
				t.Fatal(err)
			}
			before, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				if key := open(t, s); key != "a" {
					t.Errorf("the key %s", key)
				}
			}
			after, err := filepath.Glob(filepath.Join(filepath.Dir(path), "*"))
			if err != nil || !slices.Equal(before, after) {
				t.Errorf("%q, before %q, %v", after, before, err)
			}
		})
	}
}

// The cache is of its user alone. An index is opened again, also after the cache was emptied while it was open.
func TestCachedIndex(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "cache")
	t.Setenv("XDG_CACHE_HOME", cache)
	s := sourceOf("x", "a", "b")
	x, err := Open("", s)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	for _, dir := range []string{cache, filepath.Join(cache, "dsconv"), filepath.Join(cache, "dsconv", "indexes")} {
		if st, err := os.Stat(dir); err != nil || st.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, st.Mode(), err)
		}
	}
	if err := os.RemoveAll(cache); err != nil {
		t.Fatal(err)
	}
	if key, err := x.KeyOf(1); key != "b" || err != nil {
		t.Errorf("after the cache was emptied: %s, %v", key, err)
	}
	if key := open(t, s); key != "a" {
		t.Errorf("the key %s", key)
	}
	again, err := OpenCached(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A damaged index in the cache is made again.
func TestDamagedCachedIndex(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	var keys []string
	for i := range 2000 {
		keys = append(keys, strings.Repeat("k", 20)+string([]byte{'a' + byte(i/100), '0' + byte(i/10%10), '0' + byte(i%10)}))
	}
	s := sourceOf("x", keys...)
	open(t, s)
	path := cachePath(s.ID)
	intact, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	damage := map[string][]byte{"empty": nil, "longer": append(slices.Clone(intact), 0), "zeros": make([]byte, len(intact))}
	for i := range 50 {
		at := (2*i + 1) * len(intact) / 100
		flipped := slices.Clone(intact)
		flipped[at] ^= 1 << (i % 8)
		damage["byte "+string(rune('0'+i))] = flipped
		damage["cut "+string(rune('0'+i))] = intact[:at]
	}
	for name, b := range damage {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		x, err := Open("", s)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i, want := range keys {
			if key, err := x.KeyOf(i); key != want || err != nil {
				t.Errorf("%s: sample %d is %s, %v", name, i, key, err)
				break
			}
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
		if now, err := os.ReadFile(path); err != nil || !slices.Equal(now, intact) {
			t.Errorf("%s: the cache has not the index again: %v", name, err)
		}
	}
}

// What was not used for long, and what a kill left, is removed when an index is made; nothing else is.
func TestCacheIsPruned(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	first, used, s := sourceOf("first", "a"), sourceOf("used", "b"), sourceOf("new", "c")
	open(t, first)
	open(t, used)
	dir := filepath.Dir(cachePath(s.ID))
	at := func(name string) string { return filepath.Join(dir, name) }
	base := filepath.Base(cachePath(first.ID))
	if err := os.WriteFile(at(base+".json"), []byte(`{"id":"`+base+`","checksum":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("cd", len(sampleindex.ID{}))
	for _, name := range []string{other, other + ".json", ".notes.0123abcd.dsconv-new", "." + base + ".0123abcd.dsconv-new", ".running.0123abcd.dsconv-new", "notes.txt", base + ".old", "0123"} {
		if err := os.WriteFile(at(name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(at(strings.Repeat("ab", len(sampleindex.ID{}))), 0o700); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-unusedAge - time.Hour)
	for _, name := range namesIn(t, dir) {
		if name == ".running.0123abcd.dsconv-new" {
			continue
		}
		if err := os.Chtimes(at(name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	open(t, used) // it is used again
	open(t, s)
	want := []string{filepath.Base(cachePath(used.ID)), filepath.Base(cachePath(s.ID)), ".running.0123abcd.dsconv-new", ".notes.0123abcd.dsconv-new", "notes.txt", base + ".old", "0123", strings.Repeat("ab", len(sampleindex.ID{})), other, other + ".json"}
	slices.Sort(want)
	if got := namesIn(t, dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A cache in a folder that others have made, or could have changed, is not used: nothing is read there or written.
func TestCacheOfOthers(t *testing.T) {
	s := sourceOf("x", "a", "b")
	for name, c := range map[string]struct {
		at    string
		mode  os.FileMode
		other bool
		fine  bool
	}{
		"own":                  {"dsconv/indexes", 0o755, false, true},
		"open to a group":      {"dsconv/indexes", 0o775, false, false},
		"dsconv open to all":   {"dsconv", 0o777, false, false},
		"open to all":          {".", 0o777, false, false},
		"another's":            {".", 0o755, true, false},
		"another's dsconv":     {"dsconv", 0o755, true, false},
		"another's at the end": {"dsconv/indexes", 0o755, true, false},
	} {
		if c.other && os.Geteuid() != 0 {
			continue // only root can give a folder away
		}
		cache := t.TempDir()
		t.Setenv("XDG_CACHE_HOME", cache)
		if err := os.MkdirAll(filepath.Join(cache, "dsconv", "indexes"), 0o700); err != nil {
			t.Fatal(err)
		}
		at := filepath.Join(cache, c.at)
		if err := os.Chmod(at, c.mode); err != nil {
			t.Fatal(err)
		}
		if c.other {
			if err := os.Chown(at, 65534, 65534); err != nil {
				t.Fatal(err)
			}
		}
		if key := open(t, s); key != "a" {
			t.Errorf("%s: the key %s", name, key)
		}
		if names := namesIn(t, filepath.Join(cache, "dsconv", "indexes")); (len(names) > 0) != c.fine || (cachePath(s.ID) != "") != c.fine {
			t.Errorf("%s: %q", name, names)
		}
	}
}
