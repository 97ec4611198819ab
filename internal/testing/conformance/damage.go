package conformance

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// flips is the number of bits that are flipped in each file.
const flips = 40

// flippedBits: a bit flipped anywhere is found by Check, or the dataset does not open.
func (s suite) flippedBits(t *testing.T) {
	c := stereo(40)
	path := s.write(t, c)
	undamaged(t, s.open(t, path))
	dir := filepath.Dir(path)
	files := formatcheck.Tree(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content := files[name]
		for k := range min(flips, len(content)) {
			at := k * len(content) / flips
			if len(content) <= flips {
				at = k
			}
			broken := []byte(content)
			broken[at] ^= 1 << (k % 8)
			overwrite(t, filepath.Join(dir, name), broken)
			what := fmt.Sprintf("%s: bit %d of byte %d of %d flipped", name, k%8, at, len(content))
			if !s.findsDamage(t, path) {
				t.Errorf("%s: not found", what)
			}
			if k%8 == 0 {
				s.salvaged(t, path, c, name, what)
			}
		}
		overwrite(t, filepath.Join(dir, name), []byte(content))
	}
	undamaged(t, s.open(t, path))
}

func overwrite(t testing.TB, file string, content []byte) {
	t.Helper()
	if err := os.WriteFile(file, content, 0o644); err != nil {
		t.Fatal(err)
	}
}

// findsDamage reports whether the dataset cannot be opened or Check reports damage.
func (s suite) findsDamage(t *testing.T, path string) bool {
	t.Helper()
	ds, err := s.format.Open(path)
	if err != nil {
		return true
	}
	defer ds.Close()
	found := false
	err = check(t, ds, func(d formats.Damage) {
		found = true
		if d.File == "" || d.Cause == "" {
			t.Errorf("a damage that does not say where or why: %+v", d)
		}
	})
	return found || err != nil
}

// truncated: a truncated or missing file, or a pipe in its place, is an error of Open, or of Check and
// of the affected reads; nothing crashes, waits or returns wrong data.
func (s suite) truncated(t *testing.T) {
	c := stereo(40)
	path := s.write(t, c)
	dir := filepath.Dir(path)
	files := formatcheck.Tree(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, file := files[name], filepath.Join(dir, name)
		for _, n := range []int{0, 1, len(content) / 3, len(content) - 1} {
			overwrite(t, file, []byte(content[:n]))
			what := fmt.Sprintf("%s cut to %d of %d bytes", name, n, len(content))
			s.survives(t, path, c, what)
			s.salvaged(t, path, c, name, what)
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(name) == indexfile.Name { // another one is made
			nothingWrong(t, s.open(t, path), c, name+" removed")
		} else {
			s.survives(t, path, c, name+" removed")
		}
		s.salvaged(t, path, c, name, name+" removed")
		s.refusesPipe(t, path, c, file)
		overwrite(t, file, []byte(content))
	}
	undamaged(t, s.open(t, path))
}

// refusesPipe puts a pipe in the place of a file: nothing waits for its writer.
func (s suite) refusesPipe(t *testing.T, path string, c set, file string) {
	t.Helper()
	if err := errors.Join(os.RemoveAll(file), syscall.Mkfifo(file, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.survives(t, path, c, file+" exchanged for a pipe")
	if salvager, ok := s.format.(formats.Salvager); ok {
		if ds, err := salvager.Salvage(path); err == nil {
			nothingWrong(t, ds, c, file+" exchanged for a pipe, salvaged")
		}
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func (s suite) survives(t *testing.T, path string, c set, what string) {
	t.Helper()
	if !s.findsDamage(t, path) {
		t.Errorf("%s: not found", what)
	}
	if ds, err := s.format.Open(path); err == nil {
		nothingWrong(t, ds, c, what)
	}
}

// salvaged: a dataset with a damaged data file still lists all its samples, and those
// that can be read are what was written.
func (s suite) salvaged(t *testing.T, path string, c set, file, what string) {
	t.Helper()
	salvager, ok := s.format.(formats.Salvager)
	if !ok {
		return
	}
	ds, err := salvager.Salvage(path)
	switch base := filepath.Base(file); {
	case err == nil:
	case base == sidecar.ManifestName || base == manifest.MetaName || base == checksum.ChecksumsName || base == s.name:
		return // a file that describes the dataset
	default:
		t.Errorf("%s: it cannot be salvaged: %v", what, err)
		return
	}
	for i, want := range c.inKeyOrder() {
		if in, err := ds.Info(i); err != nil || in.Key != want.Key {
			t.Errorf("%s: salvaged: sample %d is %q, want %q: %v", what, i, in.Key, want.Key, err)
		}
	}
	nothingWrong(t, ds, c, what+", salvaged")
}

// nothingWrong: each sample that is read is what was written.
func nothingWrong(t *testing.T, ds formats.Dataset, c set, what string) {
	t.Helper()
	defer ds.Close()
	want := c.inKeyOrder()
	for i := range ds.Len() {
		var smp formats.Sample
		if err := ds.Read(i, &smp); err != nil {
			if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), strconv.Quote(want[i].Key)) {
				t.Errorf("%s: %v, want ErrDamaged and the key", what, err)
			}
			continue
		}
		if d := differ(c.schema, &smp, want[i]); d != "" {
			t.Errorf("%s: read without an error: %s", what, d)
		}
	}
}
