package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// flipsOf is the number of bits that are flipped in each variant: 200, or DSCONV_FLIPS.
func flipsOf(t *testing.T) int {
	t.Helper()
	s := os.Getenv("DSCONV_FLIPS")
	if s == "" && testing.Short() {
		return 60
	}
	if s == "" {
		return 200
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		t.Fatalf("DSCONV_FLIPS=%q is no number of flips", s)
	}
	return n
}

// variant is a dataset that is damaged.
type variant struct {
	name, path string // of the dataset in its own folder
	make       func(t *testing.T, path string)
}

// variants lists every layout of a dataset in every format.
func variants(t *testing.T) []variant {
	t.Helper()
	src := samples(t, "12", "48x32")
	pack := func(flags ...string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			t.Helper()
			if code, said := packTo(t, src, path, append(slices.Clone(flags), "--quiet", reportAside(t))...); code != exitDone {
				t.Fatal(said)
			}
		}
	}
	raw := []string{"--resize", "exact:240x200", "--encode", "raw"} // more than a block
	vs := []variant{
		{"tar", "x.tar", pack()},
		{"tar of raw pixels", "x.tar", pack(raw...)},
		{"tar.zst", "x.tar.zst", pack("--compress", "zstd")},
		{"shards", "x-%03d.tar", pack("--shard-count", "3")},
		{"tar with extra fields", "x.tar", withFields},
		{"tfrecord", "x.tfrecord", pack()},
		{"tfrecord with extra fields", "x-%d.tfrecord", withFields},
	}
	if cgo {
		vs = append(
			vs, variant{"lmdb", "x.lmdb", pack()}, variant{"lmdb with extra fields", "x.lmdb", withFields},
			variant{"hdf5 of raw pixels", "x.h5", pack(raw...)}, variant{"hdf5 of encoded images", "x.h5", pack()},
			variant{"hdf5 with extra fields", "x.h5", withFields},
		)
	}
	return vs
}

// withFields writes a dataset whose samples have more than an image and a label.
func withFields(t *testing.T, path string) {
	t.Helper()
	schema := formats.Schema{
		{Name: "image", Kind: formats.Image},
		{Name: "label", Kind: formats.Label, Classes: []string{"a", "b"}},
		{Name: "caption", Kind: formats.Text},
		{Name: "extra", Kind: formats.Array, DType: formats.Float32, Shape: []int{4}},
	}
	f, err := dsconv.Formats().ByPath(path)
	if err != nil {
		t.Fatal(err)
	}
	meta := formats.Meta{Version: formats.Version, Format: f.Name(), Schema: schema, Columns: []string{"from"}}
	w, err := f.(formats.WritableFormat).Create(path, meta, formats.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for i := range 12 {
		s := formats.Sample{Key: fmt.Sprintf("k%02d", i), Values: make([]formats.Value, len(schema)), Columns: []string{"here"}}
		jpeg := append([]byte("\xff\xd8\xff\xe0"), bytes.Repeat([]byte{byte(i), 7, 9}, 100+50*i)...)
		s.Values[0] = formats.Value{Data: jpeg, Encoding: formats.JPEG}
		s.Values[1].SetInt64(int64(i % 2))
		s.Values[2] = formats.Value{Data: fmt.Appendf(nil, "picture %d", i), Encoding: formats.Plain}
		s.Values[3] = formats.Value{Data: bytes.Repeat([]byte{byte(i)}, 16), Encoding: formats.Raw, DType: formats.Float32, Shape: []int{4}}
		s.Checksum = checksum.SampleChecksum(schema, &s)
		if err := w.Write(&s); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

// victim is a dataset that is damaged repeatedly, and its content.
type victim struct {
	path   string
	files  map[string]string // all bytes of the dataset's folder
	key    string
	image  string // what cat prints of key
	rotate int
}

func newVictim(t *testing.T, v variant) *victim {
	t.Helper()
	d := &victim{path: filepath.Join(t.TempDir(), v.path)}
	v.make(t, d.path)
	d.files = formatcheck.Tree(t, filepath.Dir(d.path))
	code, said := d.run("ls", d.path)
	if code != exitDone {
		t.Fatal(said)
	}
	d.key = strings.Split(said, "\n")[3]
	if code, d.image = d.run("cat", d.path, d.key); code != exitDone {
		t.Fatal(d.image)
	}
	for _, flags := range [][]string{nil, {"--quick"}} {
		if code, said := d.run(append([]string{"verify", d.path}, flags...)...); code != exitDone {
			t.Fatalf("the undamaged dataset: %s", said)
		}
	}
	return d
}

func (d *victim) file(name string) string { return filepath.Join(filepath.Dir(d.path), name) }

// run runs a command in this process: a crash ends the test.
func (d *victim) run(args ...string) (code int, out string) {
	var b bytes.Buffer
	code = run(context.Background(), append([]string{"dsconv"}, args...), &console{out: &b, err: io.Discard})
	return code, b.String()
}

// found reports whether verify finds the damage, and whether verify --quick does. One of the
// other commands runs too: it may fail, but its output must be what was written.
func (d *victim) found(t *testing.T, what string) (full, quick bool) {
	t.Helper()
	code, _ := d.run("verify", d.path)
	full = code == exitFailed || code == exitUnknown // nothing is at the path
	code, _ = d.run("verify", d.path, "--quick", "--json")
	quick = code == exitFailed || code == exitUnknown
	scratch := t.TempDir()
	other := filepath.Join(scratch, "other.tfrecord")
	commands := [][]string{
		{"cat", d.path, d.key},
		{"info", d.path},
		{"ls", d.path, "--json"},
		{"unpack", d.path, filepath.Join(scratch, "back")},
		{"verify", d.path, "--json", "-j", "1"},
	}
	args := commands[d.rotate%len(commands)]
	if d.rotate++; d.rotate%20 == 0 { // it syncs what it writes: slower than the others
		args = []string{"pack", d.path, other, "--quiet"}
	}
	code, out := d.run(args...)
	if code == exitUsage {
		t.Errorf("%s: %v takes it for wrong usage", what, args)
	}
	if args[0] == "cat" && code == exitDone && out != d.image {
		t.Errorf("%s: cat gives other bytes than were written, without an error", what)
	}
	return full, quick
}

// A bit that is flipped anywhere is found by verify, and no command crashes on it.
func TestEveryFlippedBitIsFound(t *testing.T) {
	n := flipsOf(t)
	for _, v := range variants(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newVictim(t, v)
			names := slices.Sorted(maps.Keys(d.files))
			total := 0
			for _, name := range names {
				total += len(d.files[name])
			}
			r := rand.New(rand.NewPCG(1, uint64(total)))
			foundAll, foundQuick := 0, 0
			for k := range n {
				from := k * total / n
				name, at := placeOf(d.files, names, from+r.IntN(max(1, (k+1)*total/n-from)))
				bit := r.IntN(8)
				what := fmt.Sprintf("%s: bit %d of byte %d of %d", name, bit, at, len(d.files[name]))
				poke(t, d.file(name), at, d.files[name][at]^1<<bit)
				full, quick := d.found(t, what)
				poke(t, d.file(name), at, d.files[name][at])
				if full {
					foundAll++
				} else {
					t.Errorf("%s flipped: not found", what)
				}
				if quick {
					foundQuick++
				}
			}
			t.Logf("%d bits flipped in %d bytes of %d files: verify found %d, verify --quick %d", n, total, len(names), foundAll, foundQuick)
			if code, said := d.run("verify", d.path); code != exitDone {
				t.Errorf("put in order again: %s", said)
			}
		})
	}
}

// placeOf returns the file and the offset in it of an offset in the concatenation of all files.
func placeOf(files map[string]string, names []string, at int) (string, int) {
	for _, name := range names {
		if at < len(files[name]) {
			return name, at
		}
		at -= len(files[name])
	}
	panic("behind the last file")
}

func poke(t *testing.T, file string, at int, b byte) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.WriteAt([]byte{b}, int64(at)); err != nil {
		t.Fatal(err)
	}
}

// verify and verify --quick find a file that is truncated anywhere, or missing.
func TestCutAndMissingFilesAreFound(t *testing.T) {
	cuts := max(3, flipsOf(t)/100)
	for _, v := range variants(t) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newVictim(t, v)
			r := rand.New(rand.NewPCG(3, 4))
			for _, name := range slices.Sorted(maps.Keys(d.files)) {
				content := d.files[name]
				if len(content) == 0 {
					continue
				}
				for range cuts {
					size := r.IntN(len(content))
					if err := os.Truncate(d.file(name), int64(size)); err != nil {
						t.Fatal(err)
					}
					what := fmt.Sprintf("%s cut to %d of %d bytes", name, size, len(content))
					if full, quick := d.found(t, what); !full || !quick {
						t.Errorf("%s: verify finds it: %v, quickly: %v", what, full, quick)
					}
					if err := os.WriteFile(d.file(name), []byte(content), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if err := os.Remove(d.file(name)); err != nil {
					t.Fatal(err)
				}
				if full, quick := d.found(t, name+" removed"); !full || !quick {
					t.Errorf("%s removed: verify finds it: %v, quickly: %v", name, full, quick)
				}
				if err := os.WriteFile(d.file(name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
