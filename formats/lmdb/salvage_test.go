package lmdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// TestSalvage: whatever happens to a data file, all samples are known, those that are read
// are right, the others fail with their key, and the quick check has something to tell.
func TestSalvage(t *testing.T) {
	samples := fixtureSamples()
	for name, c := range map[string]struct {
		file        string
		damage      func(path string) error
		least, most int // samples that can be read
	}{
		"whole":             {dataName, func(string) error { return nil }, fixtureCount, fixtureCount},
		"missing":           {dataName, os.Remove, 0, 0},
		"empty":             {dataName, func(p string) error { return os.Truncate(p, 0) }, 0, 0},
		"half":              {dataName, func(p string) error { return os.Truncate(p, 5*4096) }, 0, fixtureCount - 1},
		"last page lost":    {dataName, func(p string) error { return os.Truncate(p, 11*4096) }, 1, fixtureCount},
		"first meta page":   {dataName, func(p string) error { return zero(p, 0, 4096) }, 1, fixtureCount},
		"second meta page":  {dataName, func(p string) error { return zero(p, 4096, 4096) }, 1, fixtureCount},
		"a leaf":            {dataName, func(p string) error { return zero(p, 7*4096, 4096) }, 1, fixtureCount - 1},
		"a folder":          {dataName, func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o755)) }, 0, 0},
		"no fields":         {fieldsName, os.RemoveAll, 0, 0},
		"fields cut":        {fieldsName + "/" + dataName, func(p string) error { return os.Truncate(p, 100) }, 0, 0},
		"fields all zeroes": {fieldsName + "/" + dataName, func(p string) error { return zero(p, 0, 65536) }, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := copyFixture(t)
			if err := c.damage(filepath.Join(path, filepath.FromSlash(c.file))); err != nil {
				t.Fatal(err)
			}
			ds, err := Format{}.Salvage(path)
			if err != nil {
				t.Fatal(err)
			}
			defer ds.Close()
			read := 0
			var s formats.Sample
			for i, want := range samples {
				in, err := ds.Info(i)
				if err != nil || in.Key != want.Key {
					t.Fatalf("sample %d: %q, %v", i, in.Key, err)
				}
				switch err := ds.Read(i, &s); {
				case err == nil && equal(&s, want):
					read++
				case err == nil:
					t.Errorf("key %q: not what was written", in.Key)
				case !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), in.Key):
					t.Errorf("key %q: %v", in.Key, err)
				}
			}
			if read < c.least || read > c.most {
				t.Errorf("%d samples can be read, want %d to %d", read, c.least, c.most)
			}
			found := 0
			err = ds.(formats.Checker).CheckQuick(context.Background(), func(d formats.Damage) { found++ })
			if (found > 0) == (name == "whole") || err != nil {
				t.Errorf("the quick check reports %d, %v", found, err)
			}
		})
	}
}

func zero(path string, off int64, n int) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.WriteAt(make([]byte, n), off)
	return err
}

// TestSalvageWantsTheManifest: what describes the dataset must be whole.
func TestSalvageWantsTheManifest(t *testing.T) {
	for _, name := range []string{sidecar.ManifestName, manifest.MetaName} {
		path := copyFixture(t)
		if err := os.Truncate(filepath.Join(path, name), 100); err != nil {
			t.Fatal(err)
		}
		if ds, err := (Format{}).Salvage(path); err == nil {
			t.Errorf("without %s it opens", name)
			_ = ds.Close()
		}
	}
}

// TestOpenRefusesOtherSizes: a file that is longer or shorter than it was written.
func TestOpenRefusesOtherSizes(t *testing.T) {
	for _, size := range []int64{12*4096 - 1, 11 * 4096, 12*4096 + 1, 13 * 4096} {
		path := copyFixture(t)
		if err := os.Truncate(filepath.Join(path, dataName), size); err != nil {
			t.Fatal(err)
		}
		if _, err := (Format{}).Open(path); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}
