package shard_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
)

var photo = func() []byte {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}()

type tarMember struct{ name, data string }

// tarOf writes a tar of members.
func tarOf(t testing.TB, path string, members ...tarMember) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m.name, Size: int64(len(m.data)), Mode: 0o644, Typeflag: tar.TypeReg}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(m.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), os.WriteFile(path, b.Bytes(), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func pairs(n int, class string) (list []tarMember) {
	for i := range n {
		list = append(list, tarMember{fmt.Sprintf("%06d.jpg", i), string(photo)}, tarMember{fmt.Sprintf("%06d.cls", i), class})
	}
	return list
}

// indexes lists what is in the cache.
func indexes(t *testing.T) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(os.Getenv("XDG_CACHE_HOME"), "dsconv", "indexes", "*"))
	must(t, err)
	return names
}

func classesOf(t *testing.T, path string) []string {
	t.Helper()
	ds, err := shard.WebDataset{}.Open(path)
	must(t, err)
	defer ds.Close()
	var s formats.Sample
	must(t, ds.Read(0, &s))
	return ds.Meta().Classes()
}

// TestIndexIsMadeOnce: the second time nothing is made, so nothing was scanned.
func TestIndexIsMadeOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.tar")
	tarOf(t, path, pairs(200, "a")...)
	first, err := shard.WebDataset{}.Open(path)
	must(t, err)
	defer first.Close()
	made := indexes(t)
	if len(made) != 2 {
		t.Fatalf("the cache has %q", made)
	}
	times := make([]time.Time, len(made))
	for k, name := range made {
		st, err := os.Stat(name)
		must(t, err)
		times[k] = st.ModTime()
	}
	again, err := shard.WebDataset{}.Open(path)
	must(t, err)
	defer again.Close()
	if again.Len() != 200 || !slices.Equal(again.Meta().Classes(), first.Meta().Classes()) {
		t.Errorf("%d samples, %v", again.Len(), again.Meta())
	}
	for k, name := range indexes(t) {
		if st, err := os.Stat(name); err != nil || !st.ModTime().Equal(times[k]) || name != made[k] {
			t.Errorf("%s was made again: %v", name, err)
		}
	}
}

// TestChangedFile: a changed file has another index, and is an error while it is open.
func TestChangedFile(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.tar")
	tarOf(t, path, pairs(3, "a")...)
	ds, err := shard.WebDataset{}.Open(path)
	must(t, err)
	defer ds.Close()
	st, err := os.Stat(path)
	must(t, err)
	old, err := os.ReadFile(path)
	must(t, err)
	changed := bytes.ReplaceAll(old, []byte("a\x00\x00"), []byte("b\x00\x00")) // of the same size
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = f.Write(changed)
	must(t, errors.Join(err, f.Close(), os.Chtimes(path, time.Time{}, st.ModTime().Add(time.Second))))
	var s formats.Sample
	for what, err := range map[string]error{"read": ds.Read(0, &s), "viewed": ds.(formats.Viewer).View(1, &s)} {
		if !errors.Is(err, formats.ErrChanged) || !strings.Contains(err.Error(), "x.tar: it has changed since") {
			t.Errorf("a changed file, %s: %v", what, err)
		}
	}
	if got := classesOf(t, path); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the changed file has the classes %v", got)
	}
	// Another file at the path: what was opened is still there.
	same, err := shard.WebDataset{}.Open(path)
	must(t, err)
	defer same.Close()
	must(t, os.Rename(path, path+".away"))
	tarOf(t, path, pairs(3, "c")...)
	must(t, same.Read(0, &s))
	if got := classesOf(t, path); !slices.Equal(got, []string{"c"}) {
		t.Errorf("the new file has the classes %v", got)
	}
}

// TestWithoutCache: a cache that cannot be written, or whose files are damaged, changes nothing.
func TestWithoutCache(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "file")
	must(t, os.WriteFile(cache, nil, 0o600))
	t.Setenv("XDG_CACHE_HOME", cache)
	path := filepath.Join(t.TempDir(), "x.tar")
	tarOf(t, path, pairs(3, "a")...)
	if got := classesOf(t, path); !slices.Equal(got, []string{"a"}) {
		t.Errorf("without a cache: %v", got)
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for range 2 {
		if got := classesOf(t, path); !slices.Equal(got, []string{"a"}) {
			t.Errorf("with a damaged cache: %v", got)
		}
		for _, name := range indexes(t) {
			b, err := os.ReadFile(name)
			must(t, err)
			b[len(b)/2] ^= 1
			must(t, os.WriteFile(name, b, 0o600))
		}
	}
}

// TestMadeTwiceAtOnce: several programs may make the index at the same time.
func TestMadeTwiceAtOnce(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "x.tar")
	tarOf(t, path, pairs(300, "a")...)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			ds, err := shard.WebDataset{}.Open(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer ds.Close()
			var s formats.Sample
			if err := ds.Read(299, &s); err != nil || s.Key != "000299" {
				t.Error(s.Key, err)
			}
		})
	}
	wait.Wait()
	if made := indexes(t); len(made) != 2 {
		t.Errorf("the cache has %q", made)
	}
}

// TestManySamples: a hundred thousand samples are found, and found again without a scan.
func TestManySamples(t *testing.T) {
	if os.Getenv("DSCONV_TORTURE") == "" {
		t.Skip("a hundred thousand samples take seconds: make torture")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	for k := range 10 {
		var list []tarMember
		for i := range 10_000 {
			key := fmt.Sprintf("%08d", 10_000*k+i)
			list = append(list, tarMember{key + ".jpg", string(photo)}, tarMember{key + ".cls", fmt.Sprint(i % 1000)})
		}
		tarOf(t, filepath.Join(dir, fmt.Sprintf("x-%d.tar", k)), list...)
	}
	for _, what := range []string{"first", "second"} {
		begin := time.Now()
		ds, err := shard.WebDataset{}.Open(filepath.Join(dir, "x-%d.tar"))
		must(t, err)
		t.Logf("the %s time: %v", what, time.Since(begin))
		if ds.Len() != 100_000 || len(ds.Meta().Classes()) != 1000 {
			t.Errorf("%d samples", ds.Len())
		}
		must(t, ds.Close())
	}
}

// TestEmptyShard: a shard of no bytes, as a failed download leaves it, is listed as skipped.
func TestEmptyShard(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := t.TempDir()
	tarOf(t, filepath.Join(dir, "x-0.tar"), pairs(3, "a")...)
	must(t, os.WriteFile(filepath.Join(dir, "x-1.tar"), nil, 0o600))
	ds, err := shard.WebDataset{}.Open(dir)
	must(t, err)
	defer ds.Close()
	if skips := ds.(formats.Skipper).Skips(); ds.Len() != 3 || len(skips) != 1 || skips[0].Path != "x-1.tar" || !strings.Contains(skips[0].Cause, "is empty") {
		t.Errorf("%d samples, skipped %+v", ds.Len(), skips)
	}
}
