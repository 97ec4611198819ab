package manifest

import (
	"bytes"
	"errors"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// FuzzMeta: a dataset.json is an error, or a Meta whose own dataset.json is the same.
func FuzzMeta(f *testing.F) {
	m := formats.Meta{
		Version: 1, Format: "shard", Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: formats.Label, Classes: []string{"a", "ü\x1b"}}},
		Splits: []formats.Split{{Name: "train", Count: 2}}, Columns: []string{"x"}, Recipe: map[string]string{"encode": "keep"}, Count: 2, Files: []string{"x-0.tar"},
	}
	b, err := EncodeMeta(&m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"schema":[{"name":"image","kind":"image","shape":[-1,9223372036854775807]}],"files":["../../x"],"count":-1}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := DecodeMeta(b)
		if err != nil {
			return
		}
		for _, name := range m.Files {
			if filepath.Join("d", name) != "d/"+name {
				t.Fatalf("a file named %q", name)
			}
		}
		one, err := EncodeMeta(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeMeta(one)
		if err != nil {
			t.Fatalf("%s: %v", one, err)
		}
		if two, err := EncodeMeta(again); err != nil || !bytes.Equal(one, two) {
			t.Fatalf("%s became %s: %v", one, two, err)
		}
	})
}

// The splits of a manifest are no paths either; those with slashes, which earlier versions
// took, can be read.
func TestSplitsOfAManifest(t *testing.T) {
	for name, ok := range map[string]bool{"train": true, "": true, "2019/train": true, "../../escaped": false, "/x": false, "..": false} {
		b := encodeRows(t, nil, false, []*Row{{Info: formats.Info{Key: "a", Split: name}}})
		if _, err := readRows(b, nil); (err == nil) != ok || err != nil && !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func noError(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
