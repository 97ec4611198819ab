//go:build linux

package cache

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestOpenErrors(t *testing.T) {
	dir := memoryDir(t)
	good := Config{Dir: dir, Name: "a", Limit: 1 << 20, Samples: 10}
	openCache(t, good)
	write := func(name string, size int64) {
		f, err := os.Create(filepath.Join(dir, prefix()+name))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		// Only what is locked is looked into.
		if err := errors.Join(f.Truncate(size), flock(f, 1)); err != nil {
			t.Fatal(err)
		}
	}
	write("empty", 0)
	write("zeros", 1<<20)
	if err := os.Symlink(good.path(), filepath.Join(dir, prefix()+"link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, prefix()+"folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		edit func(*Config)
		want string
	}{
		{"samples", func(c *Config) { c.Samples = 11 }, "with 10 samples, here with 11"},
		{"limit", func(c *Config) { c.Limit = 1 << 21 }, "limit of 1048576 bytes, here with 2097152"},
		{"no samples", func(c *Config) { c.Samples = 0 }, "0 samples"},
		{"negative limit", func(c *Config) { c.Limit = -1 }, "limit of -1"},
		{"huge limit", func(c *Config) { c.Limit = math.MaxInt64 }, "limit of"},
		{"no name", func(c *Config) { c.Name = "" }, "name"},
		{"path as name", func(c *Config) { c.Name = "../a" }, "name"},
		{"long name", func(c *Config) { c.Name = strings.Repeat("a", 129) }, "name"},
		{"no folder", func(c *Config) { c.Dir = filepath.Join(dir, "none") }, "no such file"},
		{"empty file", func(c *Config) { c.Name = "empty" }, "not a cache of this version"},
		{"another file", func(c *Config) { c.Name = "zeros" }, "not a cache of this version"},
		{"link", func(c *Config) { c.Name = "link" }, "link"},
		{"folder", func(c *Config) { c.Name = "folder" }, "directory"},
	} {
		conf := good
		c.edit(&conf)
		got, err := Open(conf)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if got != nil {
			t.Errorf("%s: a cache and an error", c.name)
		}
	}
	if _, err := os.Stat(good.path()); err != nil {
		t.Errorf("the cache in use: %v", err)
	}
}

func TestPutErrors(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 10})
	for _, p := range [][2]int{{-1, 5}, {10, 5}, {3, -1}} {
		if _, ok, err := c.Put(p[0], p[1], nil); ok || err == nil {
			t.Errorf("Put(%d, %d): %v %v", p[0], p[1], ok, err)
		}
		if _, ok := c.Get(p[0]); ok {
			t.Errorf("Get(%d)", p[0])
		}
	}
}

func TestFileOfAnotherUser(t *testing.T) {
	conf := Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 10}
	if err := os.WriteFile(conf.path(), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(conf.path(), os.Geteuid()+1, -1); err != nil {
		t.Skipf("no right to give a file away: %v", err)
	}
	if _, err := Open(conf); err == nil || !strings.Contains(err.Error(), "it belongs to ") {
		t.Errorf("%v", err)
	}
	openCache(t, Config{Dir: conf.Dir, Name: "b", Limit: 1, Samples: 1})
	if _, err := os.Stat(conf.path()); err != nil {
		t.Error(err)
	}
}

// Who had the file open before it was removed does not take the next one for it.
func TestRemovedAndMadeAgain(t *testing.T) {
	conf := Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 10}
	first := openCache(t, conf)
	late, err := openOwn(conf.path())
	if err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	second := openCache(t, conf)
	if isAt(late, conf.path()) {
		t.Error("the file that was removed passes for the new one")
	}
	if err := release(late, conf.path()); err != nil {
		t.Error(err)
	}
	if !isAt(second.file, conf.path()) {
		t.Error("a cache in use was removed")
	}
}

func TestFileIsPrivate(t *testing.T) {
	c := openCache(t, Config{Dir: memoryDir(t), Name: "a", Limit: 1 << 20, Samples: 10})
	if st, err := os.Stat(c.path); err != nil || st.Mode() != 0o600 {
		t.Errorf("%v %v", st.Mode(), err)
	}
}
