// Package conformance checks that a written format has every property of formats.Format: formats/formattest is its public name.
package conformance

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// Run checks every property of f. name is the base name of the datasets that it makes,
// such as "x.lmdb" or "x-%03d.tar"; they lie in temporary folders of their own, and so does the
// user's cache, in which damaged datasets get an index. Therefore t must not be parallel.
func Run(t *testing.T, f formats.WritableFormat, name string) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	s := suite{format: f, name: name}
	for _, p := range []struct {
		name  string
		check func(suite, *testing.T)
	}{
		{"RoundTrip", suite.roundTrip},
		{"Kinds", suite.kinds},
		{"Empty", suite.empty},
		{"Meta", suite.meta},
		{"Rank", suite.indexIsKeyOrder},
		{"Info", suite.info},
		{"ReadReusesBuffers", suite.readReusesBuffers},
		{"ConcurrentReads", suite.concurrentReads},
		{"View", suite.view},
		{"Prefetch", suite.prefetch},
		{"StorageOrder", suite.storageOrder},
		{"OutOfRange", suite.outOfRange},
		{"Closed", suite.closed},
		{"ClosedWhileUsed", suite.closedWhileUsed},
		{"Lease", suite.lease},
		{"ClosedWriter", suite.closedWriter},
		{"Forgotten", suite.forgotten},
		{"Nonsense", suite.nonsense},
		{"MissingPaths", suite.missingPaths},
		{"SameBytes", suite.sameBytes},
		{"Resume", suite.resume},
		{"Saved", suite.saved},
		{"Kill", suite.kill},
		{"Unfinished", suite.unfinished},
		{"StageErrors", suite.stageErrors},
		{"Replace", suite.replace},
		{"Foreign", suite.foreign},
		{"Theirs", suite.theirs},
		{"Rights", suite.rights},
		{"BadKeys", suite.badKeys},
		{"BadSchemas", suite.badSchemas},
		{"FlippedBits", suite.flippedBits},
		{"Truncated", suite.truncated},
		{"CutWhileOpen", suite.truncatedWhileOpen},
	} {
		t.Run(p.name, func(t *testing.T) { p.check(s, t) })
	}
}

// suite is one format under test.
type suite struct {
	format formats.WritableFormat
	name   string
}

func (s suite) path(dir string) string { return filepath.Join(dir, s.name) }

func (s suite) isPattern() bool { return strings.Contains(s.name, "%") }

// create starts a dataset of the set at path.
func (s suite) create(t testing.TB, path string, c set, o formats.CreateOptions) formats.Writer {
	t.Helper()
	w, err := s.format.Create(path, c.meta(s.format.Name()), o)
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return w
}

// add writes the samples from..to-1 of the order in which the format wants them and cuts
// after every cutEvery-th of the whole.
func (s suite) add(t testing.TB, w formats.Writer, c set, from, to int) {
	t.Helper()
	order := c.order(s.format.Traits().Ordered)
	for i := from; i < to; i++ {
		if err := w.Write(&c.samples[order[i]]); err != nil {
			t.Fatalf("write %q: %v", c.samples[order[i]].Key, err)
		}
		if cutter, ok := w.(formats.ShardEnder); ok && s.isPattern() && i%cutEvery == cutEvery-1 {
			if err := cutter.EndShard(); err != nil {
				t.Fatalf("cut: %v", err)
			}
		}
	}
}

const cutEvery = 15

func commit(t testing.TB, w formats.Writer) {
	t.Helper()
	if err := w.Commit(); err != nil {
		t.Fatalf("commit: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
}

// write makes the whole dataset in a new folder and gives its path.
func (s suite) write(t testing.TB, c set) string {
	t.Helper()
	path := s.path(t.TempDir())
	w := s.create(t, path, c, formats.CreateOptions{})
	s.add(t, w, c, 0, len(c.samples))
	commit(t, w)
	return path
}

func (s suite) open(t testing.TB, path string) formats.Dataset {
	t.Helper()
	if !s.format.Match(path) {
		t.Fatalf("%s does not match the format", path)
	}
	ds, err := s.format.Open(path)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	t.Cleanup(func() {
		if err := ds.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return ds
}
