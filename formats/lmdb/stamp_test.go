//go:build cgo

package lmdb

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// TestStamp: each edit by LMDB's own library shows in the stamp, also one that keeps the file's length, and
// so does a compacting copy; what only reads does not.
func TestStamp(t *testing.T) {
	put := func(key, value string) func(*lmdb.Txn, lmdb.DBI) error {
		return func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Put(db, []byte(key), []byte(value), 0) }
	}
	key := numbered(nil, 500)
	for _, names := range [][]string{nil, {"mask", "caption"}} {
		for name, c := range map[string]struct {
			edit func(*lmdb.Txn, lmdb.DBI) error
			same bool
		}{
			"only read": {func(txn *lmdb.Txn, db lmdb.DBI) error {
				_, err := txn.Get(db, []byte(key))
				return err
			}, true},
			"another value": {put(key, "other"), false},
			"another key":   {put("new", "value"), false},
			"deleted":       {func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Del(db, []byte(key), nil) }, false},
			"dropped":       {func(txn *lmdb.Txn, db lmdb.DBI) error { return txn.Drop(db, false) }, false},
		} {
			dir := t.TempDir()
			s := shape{keys: 1000, commits: 1, key: numbered, size: upTo(6000), names: names}
			s.write(t, dir)
			before := stampOf(t, dir, names)
			editByLMDB(t, dir, names, c.edit)
			if after := stampOf(t, dir, names); bytes.Equal(after, before) != c.same {
				t.Errorf("%s, databases %q: the same stamp is %v, want %v", name, names, !c.same, c.same)
			}
		}
	}
}

func stampOf(t *testing.T, dir string, names []string) []byte {
	t.Helper()
	e, err := lmdbfile.OpenEnvironment(dir, dataName, names)
	must(t, err)
	defer e.Close()
	return e.Stamp
}

// editByLMDB edits the last of the databases.
func editByLMDB(t *testing.T, dir string, names []string, edit func(*lmdb.Txn, lmdb.DBI) error) {
	t.Helper()
	env, err := lmdb.NewEnv()
	must(t, err)
	defer env.Close()
	must(t, env.SetMaxDBs(max(1, len(names))))
	must(t, env.SetMapSize(1<<30))
	must(t, env.Open(dir, 0, 0o644))
	must(t, env.Update(func(txn *lmdb.Txn) error {
		db, err := txn.OpenRoot(0)
		if len(names) > 0 {
			db, err = txn.OpenDBI(names[len(names)-1], 0)
		}
		if err != nil {
			return err
		}
		return edit(txn, db)
	}))
}

// TestStampOfACompactCopy: of files of one transaction too, whose copy may have the same length and number of
// transactions.
func TestStampOfACompactCopy(t *testing.T) {
	for name, s := range shapes {
		dir, copied := t.TempDir(), t.TempDir()
		s.write(t, dir)
		theirs := openTransactions(t, dir, s.names)
		must(t, theirs.env.CopyFlag(copied, lmdb.CopyCompact))
		a, err := os.ReadFile(filepath.Join(dir, dataName))
		must(t, err)
		b, err := os.ReadFile(filepath.Join(copied, dataName))
		must(t, err)
		page := os.Getpagesize()
		same := bytes.Equal(a[lmdbfile.MetaPages*page:], b[lmdbfile.MetaPages*page:])
		if bytes.Equal(stampOf(t, dir, s.names), stampOf(t, copied, s.names)) && !same {
			t.Errorf("%s: the copy has other pages and the same stamp", name)
		}
	}
}
