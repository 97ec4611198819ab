package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// content is what reading a dataset gives.
type content struct {
	infos   []formats.Info
	samples []formats.Sample
}

func contentOf(t *testing.T, path string) (c content) {
	t.Helper()
	ds, err := dsconv.Formats().Open(path)
	must(t, err)
	defer ds.Close()
	for i := range ds.Len() {
		in, err := ds.Info(i)
		must(t, err)
		var s formats.Sample
		must(t, ds.Read(i, &s))
		c.infos, c.samples = append(c.infos, in), append(c.samples, s)
	}
	return c
}

// differs says in what s is not sample i, "" if it is.
func (c *content) differs(i int, s *formats.Sample) string {
	want := &c.samples[i]
	if s.Key != want.Key || s.Split != want.Split || s.Source != want.Source || s.Checksum != want.Checksum || !slices.Equal(s.Columns, want.Columns) {
		return fmt.Sprintf("it is described as %q %q %+v, written was %q %q %+v", s.Key, s.Split, s.Source, want.Key, want.Split, want.Source)
	}
	for k := range want.Values {
		v, w := &s.Values[k], &want.Values[k]
		if !bytes.Equal(v.Data, w.Data) || v.Encoding != w.Encoding || v.DType != w.DType || !slices.Equal(v.Shape, w.Shape) {
			return fmt.Sprintf("value %d has other bytes, or another type or shape, than were written", k)
		}
	}
	return ""
}

// check opens the dataset, reads all that it gives in every way, and reports what is neither an error nor
// what c has. opened tells whether it could be opened, failed how many reads were errors.
func (c *content) check(t *testing.T, what, path string) (opened bool, failed int) {
	t.Helper()
	ds, err := dsconv.Formats().Open(path)
	if err != nil {
		if !errors.Is(err, formats.ErrDamaged) && !errors.Is(err, formats.ErrNotDataset) && !errors.Is(err, formats.ErrNewer) {
			t.Errorf("%s: opening it: %v: that is no damage", what, err)
		}
		return false, 0
	}
	defer ds.Close()
	if ds.Len() != len(c.infos) {
		t.Errorf("%s: it has %d samples, written were %d", what, ds.Len(), len(c.infos))
		return true, 0
	}
	isError := func(err error) bool {
		if err == nil {
			return false
		}
		if failed++; !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%s: %v: that is no damage", what, err)
		}
		return true
	}
	for i := range c.infos {
		want := c.infos[i]
		in, err := ds.Info(i)
		if !isError(err) && (!slices.Equal(in.Columns, want.Columns) || fmt.Sprintf("%+v", in) != fmt.Sprintf("%+v", want)) {
			t.Errorf("%s: sample %d is described as %+v, written was %+v", what, i, in, want)
		}
		var s formats.Sample
		if err := ds.Read(i, &s); !isError(err) {
			if difference := c.differs(i, &s); difference != "" {
				t.Errorf("%s: reading sample %d: %s", what, i, difference)
			}
		}
		if at, err := formats.Find(ds, want.Key); !isError(err) && at != i {
			t.Errorf("%s: the key of sample %d is found at %d", what, i, at)
		}
	}
	return true, failed
}

// describing lists the parts of a dataset's files that have its index and its manifest.
func describing(t *testing.T, files map[string]string) (parts []part) {
	t.Helper()
	for name, content := range files {
		switch base := filepath.Base(name); {
		case base == indexfile.Name || base == sidecar.ManifestName:
			parts = append(parts, part{name, 0, len(content)})
		case strings.HasSuffix(name, ".h5"):
			from := strings.Index(content, "DSCINDX1")
			manifest := strings.Index(content, "PAR1")
			if from < 0 || manifest < 0 {
				t.Fatalf("%s has no index or no manifest", name)
			}
			pages := int(binary.LittleEndian.Uint64([]byte(content[from+40:]))) + 1 // of few samples: one with checksums
			parts = append(parts, part{name, from, from + pages*4096}, part{name, manifest, strings.LastIndex(content, "PAR1") + 4})
		}
	}
	if len(parts) != 2 {
		t.Fatalf("index and manifest are %v", parts)
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.file, b.file) })
	return parts
}

// part is the bytes of a file from from up to to.
type part struct {
	file     string
	from, to int
}

// A bit that is flipped in index or manifest is found by verify, and nothing reads anything else than what
// was written because of it.
func TestFlippedBitsOfTheIndex(t *testing.T) {
	vs := variants(t)
	each := max(4, flipsOf(t)/len(vs)/2) // of index and of manifest
	for _, v := range vs {
		t.Run(v.name, func(t *testing.T) {
			d := newVictim(t, v)
			want := contentOf(t, d.path)
			r := rand.New(rand.NewPCG(5, uint64(each)))
			unopened, failed := 0, 0
			for _, p := range describing(t, d.files) {
				for k := range each {
					n := p.to - p.from
					from := k * n / each
					at, bit := p.from+from+r.IntN(max(1, (k+1)*n/each-from)), r.IntN(8)
					what := fmt.Sprintf("%s: bit %d of byte %d", p.file, bit, at)
					poke(t, d.file(p.file), at, d.files[p.file][at]^1<<bit)
					if code, _ := d.run("verify", d.path); code != exitFailed {
						t.Errorf("%s flipped: verify does not find it", what)
					}
					opened, errs := want.check(t, what, d.path)
					failed += errs
					if !opened {
						unopened++
					}
					poke(t, d.file(p.file), at, d.files[p.file][at])
				}
			}
			t.Logf("%d bits flipped: %d times it was not opened, %d reads were errors", 2*each, unopened, failed)
			want.check(t, "put in order again", d.path)
		})
	}
}

// indexOf is the index in the folder dir that holds a dataset, "" if there is none.
func indexOf(t *testing.T, dir string) string {
	t.Helper()
	for name := range formatcheck.Tree(t, dir) {
		if filepath.Base(name) == indexfile.Name {
			return filepath.Join(dir, name)
		}
	}
	return ""
}

// An index that is not the dataset's is named or not used: one of another dataset with the same keys, one
// of an earlier version, one that is cut or nothing of the kind.
func TestForeignIndex(t *testing.T) {
	src := samples(t, "24", "48x32")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	names := []string{"x.tar", "x-%d.tfrecord"}
	if cgo {
		names = append(names, "x.lmdb")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), name)
			pack := func(flags ...string) []byte {
				if code, said := packTo(t, src, path, append(flags, "--quiet", "--discard", "--force")...); code != exitDone {
					t.Fatal(said)
				}
				return read(t, indexOf(t, filepath.Dir(path)))
			}
			indexes := map[string][]byte{"another dataset": pack("--resize", "exact:40x30", "--encode", "png")}
			indexes["an earlier version"] = pack()
			table := filepath.Join(t.TempDir(), "labels.csv")
			key := contentOf(t, path).infos[3].Key
			must(t, os.WriteFile(table, []byte("key,label\n\""+key+"\",new class\n"), 0o644))
			succeeds(t, "relabel", path, table, "--quiet", "--new-class")
			want := contentOf(t, path)
			file := indexOf(t, filepath.Dir(path))
			own := read(t, file)
			indexes["cut"] = own[:len(own)/2]
			indexes["cut to whole pages"] = own[:len(own)/2&^4095]
			indexes["empty"] = nil
			indexes["longer"] = append(slices.Clone(own), make([]byte, 4096)...)
			indexes["zeros"] = make([]byte, len(own))
			indexes["another header"] = append(slices.Clone(indexes["an earlier version"][:4096]), own[4096:]...)
			indexes["a flipped bit"] = slices.Clone(own)
			indexes["a flipped bit"][2*4096] ^= 4
			indexes["a text"] = []byte(strings.Repeat("index\n", 4000))
			whole := formatcheck.Tree(t, filepath.Dir(path))
			for _, what := range slices.Sorted(maps.Keys(indexes)) {
				t.Run(what, func(t *testing.T) {
					must(t, os.WriteFile(file, indexes[what], 0o644))
					defer restore(t, filepath.Dir(path), whole)
					code, said := dsconvSays("verify", path)
					opened, failed := want.check(t, what, path)
					if failed > 0 {
						t.Errorf("%d reads are errors", failed)
					}
					if is := string(read(t, file)); what == "a text" && is != string(indexes[what]) {
						t.Error("a file that is no index was replaced")
					}
					if opened || code != exitFailed || !strings.Contains(said, filepath.Base(file)) {
						t.Errorf("the dataset opens: %v, verify: exit code %d: %s", opened, code, said)
					}
				})
			}
			want.check(t, "put in order again", path)
		})
	}
}

// restore makes the files of dir those of whole again.
func restore(t *testing.T, dir string, whole map[string]string) {
	t.Helper()
	for name, content := range whole {
		must(t, os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(content), 0o644))
	}
}
