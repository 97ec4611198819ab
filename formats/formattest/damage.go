package formattest

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// flips is the number of places in each file where a bit is flipped.
const flips = 40

// flippedBits: a bit flipped anywhere is found by Check, or the dataset does not open.
func (s suite) flippedBits(t *testing.T) {
	path := s.write(t, stereo(40))
	undamaged(t, s.open(t, path))
	dir := filepath.Dir(path)
	files := Tree(t, dir)
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
			if !s.findsDamage(t, path) {
				t.Errorf("%s: bit %d of byte %d of %d flipped: not found", name, k%8, at, len(content))
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

// findsDamage says whether the dataset refuses to open or Check has something to tell.
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

// truncated: a file that ends early, or is missing, is an error of Open, or of Check and
// of the reads that it concerns; nothing crashes and nothing wrong is read.
func (s suite) truncated(t *testing.T) {
	c := stereo(40)
	path := s.write(t, c)
	dir := filepath.Dir(path)
	files := Tree(t, dir)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, file := files[name], filepath.Join(dir, name)
		for _, n := range []int{0, 1, len(content) / 3, len(content) - 1} {
			overwrite(t, file, []byte(content[:n]))
			s.survives(t, path, c, fmt.Sprintf("%s cut to %d of %d bytes", name, n, len(content)))
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		s.survives(t, path, c, name+" removed")
		overwrite(t, file, []byte(content))
	}
	undamaged(t, s.open(t, path))
}

func (s suite) survives(t *testing.T, path string, c set, what string) {
	t.Helper()
	if !s.findsDamage(t, path) {
		t.Errorf("%s: not found", what)
	}
	ds, err := s.format.Open(path)
	if err != nil {
		return
	}
	defer ds.Close()
	want := c.ranked()
	for i := range ds.Len() {
		var smp formats.Sample
		if err := ds.Read(i, &smp); err != nil {
			continue
		}
		if d := differ(c.schema, &smp, want[i]); d != "" {
			t.Errorf("%s: read without an error: %s", what, d)
		}
	}
}
