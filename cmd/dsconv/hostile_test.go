package main

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dsconvSays runs a command line and returns its exit code and its output.
func dsconvSays(args ...string) (code int, said string) {
	var b bytes.Buffer
	code = run(context.Background(), append([]string{"dsconv"}, args...), &console{in: strings.NewReader(""), out: &b, err: &b})
	return code, b.String()
}

// rewrite changes the manifest or dataset.json of the dataset with that sidecar, and updates the
// checksums.
func rewrite(t *testing.T, side, key string, change func(m *formats.Meta)) {
	t.Helper()
	old, _, err := sidecar.Read(side)
	must(t, err)
	m := *old
	change(&m)
	b, err := os.ReadFile(filepath.Join(side, sidecar.ManifestName))
	must(t, err)
	var rows bytes.Buffer
	w := manifest.NewWriter(&rows, m.Columns, false)
	first := true
	must(t, manifest.Read(b, m.Columns, func(r *manifest.Row) error {
		if key != "" && first {
			r.Key, r.Source.Path = key, key+".jpg"
		}
		first = false
		return w.Append(r)
	}))
	must(t, w.Close())
	must(t, os.Remove(filepath.Join(side, indexfile.Name))) // it is made from the manifest
	meta, err := manifest.EncodeMeta(&m)
	must(t, err)
	must(t, os.WriteFile(filepath.Join(side, sidecar.ManifestName), rows.Bytes(), 0o644))
	must(t, os.WriteFile(filepath.Join(side, manifest.MetaName), meta, 0o644))
	sums, err := checksum.ReadChecksums(side)
	must(t, err)
	for i, f := range sums {
		if base := filepath.Base(f.Name); base == sidecar.ManifestName || base == manifest.MetaName {
			sums[i], err = checksum.OfFile(filepath.Join(side, base), f.Name, -1)
			must(t, err)
		}
	}
	must(t, os.WriteFile(filepath.Join(side, checksum.ChecksumsName), sums.Encode(), 0o644))
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Every command refuses datasets with an invented description and valid checksums, and writes, moves and
// removes nothing outside the dataset.
func TestInventedDatasets(t *testing.T) {
	src, packed := samples(t, "10", "16x16"), t.TempDir()
	sidecars := map[string]string{"x.tar": "x.tar.dsconv", "x.tfrecord": "x.tfrecord.dsconv"}
	if cgo {
		sidecars["x.lmdb"] = "x.lmdb"
	}
	for file := range sidecars {
		if code, said := dsconvSays("pack", src, filepath.Join(packed, file)); code != exitDone {
			t.Fatal(said)
		}
	}
	same := func(*formats.Meta) {}
	for name, c := range map[string]struct {
		file, key string
		change    func(m *formats.Meta)
	}{
		"above": {"x.tar", "../../outside", same}, "above, TFRecord": {"x.tfrecord", "../../outside", same}, "above, LMDB": {"x.lmdb", "../../outside", same},
		"absolute": {"x.tar", "/tmp/outside", same}, "NUL": {"x.tar", "a\x00b", same}, "64 KB": {"x.lmdb", strings.Repeat("k", 1<<16), same},
		"no UTF-8": {"x.tfrecord", "\xff\xfe", same}, "escape": {"x.lmdb", "\x1b[2J\x1b[31mred", same},
		"files": {"x.tar", "", func(m *formats.Meta) { m.Files = []string{"../outside.txt"} }},
		"count": {"x.tar", "", func(m *formats.Meta) { m.Count = 1 << 40 }},
	} {
		side, ok := sidecars[c.file]
		if !ok {
			continue
		}
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		must(t, os.WriteFile(filepath.Join(dir, "outside.txt"), []byte("precious"), 0o644))
		must(t, os.CopyFS(in, os.DirFS(packed)))
		path := filepath.Join(in, c.file)
		rewrite(t, filepath.Join(in, side), c.key, c.change)
		for _, args := range [][]string{
			{"info", path},
			{"ls", "-l", path},
			{"verify", path},
			{"unpack", path, filepath.Join(in, "out")},
			{"pack", path, filepath.Join(in, "again.tar")},
			{"diff", path, src},
			{"pack", src, path, "--force"},
		} {
			code, said := dsconvSays(args...)
			if strings.ContainsAny(said, "\x1b\x00") || !utf8.ValidString(said) || len(said) > 10_000 {
				t.Errorf("%s: %s says %.200q", name, args[0], said)
			}
			if name != "escape" && args[len(args)-1] != "--force" && code != exitFailed && code != exitUnknown {
				t.Errorf("%s: %s: exit code %d: %.200s", name, args[0], code, said)
			}
		}
		staysInside(t, name, dir)
	}
}

func staysInside(t *testing.T, what, dir string) {
	t.Helper()
	entries, err := fs.ReadDir(os.DirFS(dir), ".")
	must(t, err)
	b, err := os.ReadFile(filepath.Join(dir, "outside.txt"))
	if err != nil || string(b) != "precious" || len(entries) != 2 {
		t.Errorf("%s: %v, %d entries: %v", what, err, len(entries), entries)
	}
}

func TestNamesAreHarmless(t *testing.T) {
	for name, want := range map[string]string{
		"a b/日本 é": "a b/日本 é", "\x1b[31m": `"\x1b[31m"`, "a\nb": `"a\nb"`, "\u009b31m": `"\u009b31m"`, "a\u202eb": `"a\u202eb"`, "\xff": `"\xff"`, "\u2066x": `"\u2066x"`,
	} {
		if got := printable(name); got != want {
			t.Errorf("%q: %s, want %s", name, got, want)
		}
		if got := escapeHidden(name + "\n"); strings.ContainsFunc(strings.ReplaceAll(got, "\n", ""), legible.Hidden) || !strings.HasSuffix(got, "\n") {
			t.Errorf("%q: %q", name, got)
		}
	}
}
