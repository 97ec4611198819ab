package formats_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
)

// TestNonsenseIsNamed: nil and empty arguments are errors that say what is wrong.
func TestNonsenseIsNamed(t *testing.T) {
	registry := formats.Registry{shard.Format{}}
	for what, call := range map[string]struct {
		do   func() error
		want string
	}{
		"no registry":             {func() error { _, err := formats.Registry(nil).Open("x.tar"); return err }, "has no formats"},
		"ByName without formats":  {func() error { _, err := formats.Registry{}.ByName("shard"); return err }, "has no formats"},
		"no path":                 {func() error { _, err := registry.Open(""); return err }, "the path is empty"},
		"no path of one's own":    {func() error { return formats.NotFound("") }, "the path is empty"},
		"a portion of none":       {func() error { return formats.Portion{Index: 1}.Validate() }, "portion 1 of 0"},
		"a folder without path":   {func() error { _, err := folder.Format{}.Open(""); return err }, "the path is empty"},
		"a schema without fields": {func() error { return formats.Schema(nil).Validate() }, "no field of kind image"},
		"no types":                {func() error { _, err := labels.ParseTypes("a=b=c"); return err }, "a=b=c"},
		"no table":                {func() error { _, err := folder.ReadRows("", "key"); return err }, ""},
	} {
		if err := call.do(); err == nil || !strings.Contains(err.Error(), call.want) {
			t.Errorf("%s: %v, want %q", what, err, call.want)
		}
	}
	if err := formats.CheckBuilt(shard.Format{}); err != nil {
		t.Errorf("shards can always be written: %v", err)
	}
}

// TestMissingPathsAreErrNotExist in everything that opens a path.
func TestMissingPathsAreErrNotExist(t *testing.T) {
	path := t.TempDir() + "/missing"
	for what, open := range map[string]func() error{
		"Registry.Open": func() error {
			_, err := formats.Registry{shard.Format{}, lmdb.Format{}}.Open(path + ".lmdb")
			return err
		},
		"folder.Open": func() error { _, err := folder.Open(t.Context(), path, folder.Config{}); return err },
		"a table": func() error {
			_, err := folder.Open(t.Context(), t.TempDir(), folder.Config{Labels: path + ".csv"})
			return err
		},
		"a description": func() error {
			_, err := folder.Open(t.Context(), t.TempDir(), folder.Config{Labels: path + ".json"})
			return err
		},
		"folder.ReadRows": func() error { _, err := folder.ReadRows(path+".csv", "key"); return err },
		"an empty path":   func() error { _, err := formats.Registry{shard.Format{}}.Open(""); return err },
	} {
		if err := open(); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// TestAClosedDatasetIsClosedForFindToo and for what works on any Dataset.
func TestAClosedDatasetIsClosedForFindToo(t *testing.T) {
	dir := t.TempDir()
	writePhoto(t, dir)
	ds, err := folder.Open(t.Context(), dir, folder.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := ds.Close(); err != nil {
			t.Error(err)
		}
	}
	_, find := formats.Find(ds, "a")
	_, locate := formats.Locate(ds, nil)
	_, info := ds.Info(0)
	for what, err := range map[string]error{
		"Find": find, "Locate": locate, "Info": info, "Read": ds.Read(0, new(formats.Sample)), "Identify": ds.Identify(new(strings.Builder)),
	} {
		if !errors.Is(err, formats.ErrClosed) || !strings.Contains(err.Error(), dir) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if ds.Len() != 1 || ds.Meta().Count != 1 {
		t.Errorf("%d samples", ds.Len())
	}
}

func writePhoto(t *testing.T, dir string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "a.jpg"), []byte("\xff\xd8\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
}
