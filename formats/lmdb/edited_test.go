//go:build cgo

package lmdb

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/bmatsuo/lmdb-go/lmdb"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
)

// committed is a dataset of the fixture's samples; before is called before the Commit, whose error it returns.
func committed(t *testing.T, before func(w *writer)) (path string, err error) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.lmdb")
	w, err := Format{}.Create(path, fixtureMeta, formats.CreateOptions{})
	must(t, err)
	defer w.Close()
	for _, s := range fixtureSamples() {
		must(t, w.Write(s))
	}
	before(w.(*writer))
	return path, w.Commit()
}

// TestCommitComparesTheTrees: what other programs would find must be what was written.
func TestCommitComparesTheTrees(t *testing.T) {
	key := fixtureSample(3).Key
	for name, c := range map[string]struct {
		edit func(txn *lmdb.Txn, db lmdb.DBI) error
		want string
	}{
		"missing":   {func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Del(db, []byte(key), nil) }, `key "` + key + `" is missing`},
		"too many":  {func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Put(db, []byte("zzz"), []byte{1}, 0) }, `"zzz" is not one of the dataset's`},
		"too short": {func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Put(db, []byte(key), []byte{1}, 0) }, "has 1 bytes, its image"},
	} {
		_, err := committed(t, func(w *writer) {
			must(t, errors.Join(w.images.flush(), w.images.wait()))
			must(t, w.images.env.Update(func(txn *lmdb.Txn) error { return c.edit(txn, w.images.dbis[0]) }))
		})
		if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), dataName) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestLocationsOfValues: Prefetch requests the bytes that View lends.
func TestLocationsOfValues(t *testing.T) {
	path, err := committed(t, func(*writer) {})
	must(t, err)
	ds, err := Format{}.Open(path)
	must(t, err)
	defer ds.Close()
	d := ds.(*dataset)
	var s formats.Sample
	for i := range fixtureCount {
		must(t, d.View(i, &s))
		for _, at := range d.valueLocations([]int32{int32(i), -1, fixtureCount}) {
			e := d.environments()[at.Shard]
			of := e.Data[at.Offset:][:at.Length]
			if !slices.ContainsFunc(s.Values, func(v formats.Value) bool { return len(v.Data) > 0 && sameMemory(of, v.Data) }) {
				t.Errorf("sample %d: %+v is no value of it", i, at)
			}
		}
		if n := len(d.valueLocations([]int32{int32(i)})); n != 3 {
			t.Errorf("sample %d: %d locations", i, n)
		}
	}
	d.Prefetch([]int32{0, 5, -1, 1 << 30})
}

// sameMemory reports whether b is the end of all: a header may come before it.
func sameMemory(all, b []byte) bool { return len(b) <= len(all) && &all[len(all)-1] == &b[len(b)-1] }

// TestEditedByLMDB: values that LMDB's own library moved are not read where they were. Opening says so;
// what was not edited can be salvaged, and the check reports the rest.
func TestEditedByLMDB(t *testing.T) {
	path, err := committed(t, func(*writer) {})
	must(t, err)
	st, err := os.Stat(filepath.Join(path, dataName))
	must(t, err)
	key := fixtureSample(1).Key
	editByLMDB(t, path, nil, func(txn *lmdb.Txn, db lmdb.DBI) error {
		return txn.Put(db, []byte(key), []byte("\xff\xd8\xff other"), 0)
	})
	ds, err := Format{}.Salvage(path)
	must(t, err)
	defer ds.Close()
	var s formats.Sample
	for i := range fixtureCount {
		switch err := ds.Read(i, &s); {
		case err == nil && equal(&s, fixtureSample(i)):
		case i != 1 || !errors.Is(err, formats.ErrDamaged):
			t.Errorf("sample %d: %v", i, err)
		}
	}
	found := ""
	must(t, ds.(formats.Checker).CheckQuick(context.Background(), func(d formats.Damage) { found += d.Cause + "\n" }))
	if !strings.Contains(found, "the value of key \""+key+"\" is here, but the index has it at") {
		t.Errorf("the quick check reports %s", found)
	}
	must(t, os.Truncate(filepath.Join(path, dataName), st.Size())) // as if there had been free pages
	if ds, err := (Format{}).Open(path); !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), indexfile.Name) {
		t.Errorf("opened: %v, %v", ds, err)
	}
}

// TestSalvageWithoutTrees: with the index, values in overflow pages are found without any page of a tree;
// without it none are.
func TestSalvageWithoutTrees(t *testing.T) {
	for _, indexed := range []bool{true, false} {
		path, err := committed(t, func(*writer) {})
		must(t, err)
		file := filepath.Join(path, dataName)
		b, err := os.ReadFile(file)
		must(t, err)
		for at := lmdbfile.MetaPages * 4096; at < len(b); at += 4096 {
			if lmdbfile.U16(b[at+lmdbfile.PageFlags:])&(lmdbfile.KindBranch|lmdbfile.KindLeaf) != 0 && lmdbfile.U64(b[at:]) == uint64(at/4096) {
				clear(b[at : at+4096])
			}
		}
		must(t, os.WriteFile(file, b, 0o644))
		if !indexed {
			must(t, os.Remove(filepath.Join(path, indexfile.Name)))
		}
		ds, err := Format{}.Salvage(path)
		must(t, err)
		defer ds.Close()
		var s formats.Sample
		for i := range fixtureCount {
			want := fixtureSample(i)
			err := ds.Read(i, &s)
			if big := indexed && len(want.Values[0].Data) > 2000; big != (err == nil) || big && !equal(&s, want) || err != nil && !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("indexed %v: sample %d with %d bytes: %v", indexed, i, len(want.Values[0].Data), err)
			}
		}
		found := 0
		must(t, ds.(formats.Checker).CheckQuick(context.Background(), func(formats.Damage) { found++ }))
		if found == 0 {
			t.Error("the quick check reports nothing")
		}
	}
}
