package archive

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// file is a member that a test writes.
type file struct {
	name string
	data []byte
}

var when = time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)

// noise returns n bytes that do not compress, always the same for a seed.
func noise(n int, seed uint64) []byte {
	b := make([]byte, n)
	r := rand.New(rand.NewPCG(seed, 1))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

func makeTar(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range files {
		must(t, w.WriteHeader(&tar.Header{Name: f.name, Size: int64(len(f.data)), Mode: 0o644, ModTime: when, Format: tar.FormatPAX}))
		_, err := w.Write(f.data)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func makeZip(t testing.TB, files ...file) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for i, f := range files {
		m, err := w.CreateHeader(&zip.FileHeader{Name: f.name, Modified: when, Method: uint16(i % 2 * 8)})
		must(t, err)
		_, err = m.Write(f.data)
		must(t, err)
	}
	must(t, w.Close())
	return b.Bytes()
}

func gzipped(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		w.Name = "x.tar"
		_, err := w.Write(part)
		must(t, err)
		must(t, w.Close())
	}
	return b.Bytes()
}

func zstded(t testing.TB, parts ...[]byte) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w, err := zstd.NewWriter(&b)
		must(t, err)
		_, err = w.Write(part)
		must(t, err)
		must(t, w.Close())
		b.Write([]byte{0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'}) // a skippable frame
	}
	return b.Bytes()
}

// split cuts b into n parts.
func split(b []byte, n int) [][]byte {
	return slices.Collect(slices.Chunk(b, len(b)/n+1))
}

func write(t testing.TB, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, data, 0o644))
	return path
}

func open(t testing.TB, name string, data []byte) *FS {
	t.Helper()
	f, err := Open(context.Background(), write(t, name, data))
	must(t, err)
	t.Cleanup(func() { must(t, f.Close()) })
	return f
}

// members are of several sizes, with parts that compress and parts that do not.
func members() []file {
	var files []file
	for i := range 40 {
		data := noise(300_000+i*1000, uint64(i))
		if i%3 == 0 {
			data = bytes.Repeat(data[:5000], 60)
		}
		files = append(files, file{fmt.Sprintf("%s/%03d.jpg", []string{"cat", "dog"}[i%2], i), data})
	}
	return append(files, file{"cat/empty.jpg", nil}, file{"notes.txt", []byte("hello")})
}

// Every kind of archive has the files that were written, in any order and from many goroutines.
func TestKinds(t *testing.T) {
	files := members()
	plain := makeTar(t, files...)
	inner := map[string][]file{}
	for _, f := range files {
		folder, name := splitPath(f.name)
		inner[folder] = append(inner[folder], file{"./" + name, f.data})
	}
	var outer []file
	for _, folder := range slices.Sorted(maps.Keys(inner)) {
		if folder == "" {
			outer = append(outer, inner[folder]...)
		} else {
			outer = append(outer, file{folder + ".tar", makeTar(t, inner[folder]...)})
		}
	}
	for name, data := range map[string][]byte{
		"x.tar": plain, "x.zip": makeZip(t, files...), "prefixed.zip": append([]byte("#!/bin/sh\n"), makeZip(t, files...)...),
		"x.tar.gz": gzipped(t, plain), "members.tgz": append(gzipped(t, split(plain, 7)...), make([]byte, 700)...),
		"x.tar.zst": zstded(t, plain), "frames.tar.zst": zstded(t, split(plain, 9)...),
		"tars.tar": makeTar(t, outer...), "tars.tar.gz": gzipped(t, makeTar(t, outer...)),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, name, data)
			for path, why := range refusedBy(f) {
				t.Errorf("%s: %s", path, why)
			}
			var wg sync.WaitGroup
			for worker := range 4 {
				wg.Go(func() {
					var buf []byte
					for _, i := range rand.New(rand.NewPCG(uint64(worker), 2)).Perm(len(files)) {
						var err error
						if buf, err = f.ReadInto(files[i].name, buf); err != nil || !bytes.Equal(buf, files[i].data) {
							t.Errorf("%s: %d bytes, %v", files[i].name, len(buf), err)
						}
					}
				})
			}
			wg.Wait()
			st, err := f.Stat("dog/001.jpg")
			must(t, err)
			if of, err := os.Stat(f.path); err != nil || !st.ModTime().Equal(of.ModTime()) || st.Size() != int64(len(files[1].data)) {
				t.Errorf("%v, %d bytes", st.ModTime(), st.Size())
			}
		})
	}
}

// Folders are listed by name, whatever is in them.
func TestReadDir(t *testing.T) {
	files := []file{{"a/b/1.jpg", []byte("one")}, {"a/2.jpg", []byte("two")}, {"3.jpg", []byte("three")}, {"a-/4.jpg", nil}, {"a0.jpg", nil}, {"empty/", nil}}
	for name, data := range map[string][]byte{"x.tar": makeTar(t, files...), "x.zip": makeZip(t, files...)} {
		f := open(t, name, data)
		for folder, want := range map[string]string{".": "3.jpg a/ a-/ a0.jpg empty/", "a": "2.jpg b/", "a/b": "1.jpg", "a-": "4.jpg", "empty": ""} {
			entries, err := f.ReadDir(folder)
			must(t, err)
			var got []string
			for _, e := range entries {
				got = append(got, e.Name()+map[bool]string{true: "/"}[e.IsDir()])
			}
			if strings.Join(got, " ") != want {
				t.Errorf("%s: %s has %q, want %q", name, folder, got, want)
			}
		}
		if _, err := f.ReadDir("3.jpg"); err == nil {
			t.Errorf("%s: a file is no folder", name)
		}
	}
}

// The directory is read as archive/zip reads it.
func TestZipEqualsGo(t *testing.T) {
	data := makeZip(t, append(members(), file{"ä/ö.jpg", []byte("x")}, file{"deep/er/1.jpg", []byte("y")})...)
	f := open(t, "x.zip", data)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	must(t, err)
	for _, m := range z.File {
		got, err := f.ReadInto(m.Name, nil)
		must(t, err)
		r, err := m.Open()
		must(t, err)
		want, err := io.ReadAll(r)
		must(t, err)
		if !bytes.Equal(got, want) {
			t.Errorf("%s: %d bytes for %d", m.Name, len(got), len(want))
		}
	}
}

// The folder around all others is the root, unless the path says another one.
func TestRoot(t *testing.T) {
	for _, c := range []struct {
		files        []string
		folder, want string
	}{
		{[]string{"set/cat/1.jpg", "set/dog/2.jpg", "__MACOSX/set/._x"}, "", "set"},
		{[]string{"a/b/cat/1.jpg", "a/b/dog/2.jpg"}, "", "a/b"},
		{[]string{"cat/1.jpg"}, "", ""},
		{[]string{"train/cat/1.jpg"}, "", ""},
		{[]string{"set/cat/1.jpg", "labels.csv"}, "", ""},
		{[]string{"set/train/cat/1.jpg"}, "", "set"},
		{[]string{"set/cat/1.jpg"}, "/", ""},
		{[]string{"set/cat/1.jpg"}, "/set/cat/", "set/cat"},
		{[]string{"set/cat/1.jpg"}, "/cat", "set/cat"},
	} {
		var files []file
		for _, name := range c.files {
			files = append(files, file{name, []byte("x")})
		}
		name := write(t, "x.zip", makeZip(t, files...))
		if file, _ := SplitPath(name + c.folder); file != name {
			t.Errorf("%v: the archive of %s is %q", c.files, name+c.folder, file)
		}
		f, err := Open(context.Background(), name+c.folder)
		must(t, err)
		if f.root != c.want {
			t.Errorf("%v%s: the root is %q, want %q", c.files, c.folder, f.root, c.want)
		}
		must(t, f.Close())
		must(t, f.Close())
		if _, err := f.Stat("."); !errors.Is(err, fs.ErrClosed) {
			t.Error("after Close:", err)
		}
		want := c.want
		if strings.Contains(c.files[0], "train/") {
			want = path.Join(want, "train") // the mount says which split it is
		}
		f, err = OpenMounted(context.Background(), name+c.folder)
		must(t, err)
		if f.root != want {
			t.Errorf("%v%s: mounted, the root is %q, want %q", c.files, c.folder, f.root, want)
		}
		must(t, f.Close())
	}
	name := write(t, "x.zip", makeZip(t, file{"a/1.jpg", nil}))
	if _, err := Open(context.Background(), name+"/none"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder that is not there:", err)
	}
	if _, err := Open(context.Background(), name+"x"); !errors.Is(err, fs.ErrNotExist) {
		t.Error("an archive that is not there:", err)
	}
}

// An archive that changes while it is read gives errors, not other bytes.
func TestChanged(t *testing.T) {
	path := write(t, "x.tar", makeTar(t, file{"a/1.jpg", []byte("one")}))
	f, err := Open(context.Background(), path)
	must(t, err)
	defer f.Close()
	var before, after bytes.Buffer
	must(t, f.Identify(&before))
	must(t, os.WriteFile(path, makeTar(t, file{"a/1.jpg", []byte("two")}, file{"b", nil}), 0o644))
	if _, err := f.ReadInto("a/1.jpg", nil); !errors.Is(err, formats.ErrChanged) || !strings.Contains(err.Error(), path) {
		t.Error("an archive that changed:", err)
	}
	g, err := Open(context.Background(), path)
	must(t, err)
	defer g.Close()
	must(t, g.Identify(&after))
	if before.String() == after.String() {
		t.Error("another archive has the same identity")
	}
}

// A cancelled context ends the listing.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	plain := makeTar(t, file{"a/1.jpg", []byte("x")})
	for name, data := range map[string][]byte{"x.tar": plain, "x.tar.gz": gzipped(t, plain), "x.tar.zst": zstded(t, plain), "x.zip": makeZip(t, file{"a", nil})} {
		if _, err := Open(ctx, write(t, name, data)); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
