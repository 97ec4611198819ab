//go:build cgo

package lmdb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unsafe"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// transactions is LMDB's own reader of an environment: the twin of ours.
type transactions struct {
	env  *lmdb.Env
	txn  *lmdb.Txn
	dbis []lmdb.DBI
}

func openTransactions(t testing.TB, dir string, names []string) *transactions {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	e := &transactions{env: env}
	t.Cleanup(e.close)
	if err := env.SetMaxDBs(max(1, len(names))); err != nil {
		t.Fatal(err)
	}
	if err := env.Open(dir, lmdb.Readonly|lmdb.NoLock, 0); err != nil {
		t.Fatal(err)
	}
	if e.txn, err = env.BeginTxn(nil, lmdb.Readonly); err != nil {
		t.Fatal(err)
	}
	e.txn.RawRead = true
	if len(names) == 0 {
		db, err := e.txn.OpenRoot(0)
		if err != nil {
			t.Fatal(err)
		}
		e.dbis = append(e.dbis, db)
	}
	for _, name := range names {
		db, err := e.txn.OpenDBI(name, 0)
		if err != nil {
			t.Fatal(err)
		}
		e.dbis = append(e.dbis, db)
	}
	return e
}

func (e *transactions) close() {
	if e.txn != nil {
		e.txn.Abort()
	}
	_ = e.env.Close()
}

// each goes through a database by LMDB's cursor.
func (e *transactions) each(t *testing.T, db int, visit func(key, value []byte)) {
	t.Helper()
	cursor, err := e.txn.OpenCursor(e.dbis[db])
	if err != nil {
		t.Fatal(err)
	}
	defer cursor.Close()
	for {
		k, v, err := cursor.Get(nil, nil, lmdb.Next)
		if lmdb.IsNotFound(err) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		visit(k, v)
	}
}

// shape is an environment to be compared.
type shape struct {
	names   []string
	keys    int
	key     func(r *rand.Rand, i int) string
	size    func(r *rand.Rand, i int) int
	commits int
	ordered bool // by MDB_APPEND, which fills pages
	rewrite bool // keys are put again with other sizes and some are deleted
}

func numbered(_ *rand.Rand, i int) string { return fmt.Sprintf("class/%07d", i) }

func anyLength(r *rand.Rand, i int) string {
	return fmt.Sprintf("%06d%s", i, strings.Repeat("k", r.IntN(506)))
}

func anyBytes(r *rand.Rand, i int) string {
	b := make([]byte, 1+r.IntN(511))
	for k := range b {
		b[k] = byte(r.Uint32() & r.Uint32() & 0x83) // long common beginnings, zeros, signs
	}
	return string(b[:max(1, len(b)-5)]) + fmt.Sprint(i)
}

func upTo(n int) func(*rand.Rand, int) int { return func(r *rand.Rand, _ int) int { return r.IntN(n) } }

var shapes = map[string]shape{
	"empty":                 {commits: 1, key: numbered, size: upTo(10)},
	"empty named":           {commits: 1, key: numbered, size: upTo(10), names: []string{"a", "b"}},
	"one":                   {keys: 1, commits: 1, key: numbered, size: upTo(10)},
	"a leaf":                {keys: 30, commits: 1, key: numbered, size: upTo(60), ordered: true},
	"every size to 3 pages": {keys: 3 * 4096, commits: 3, key: numbered, size: func(_ *rand.Rand, i int) int { return i }, ordered: true},
	"many":                  {keys: 60_000, commits: 2, key: numbered, size: upTo(40), ordered: true},
	"long keys":             {keys: 1500, commits: 4, key: anyLength, size: upTo(3000)},
	"longest keys":          {keys: 900, commits: 1, size: upTo(100), key: func(_ *rand.Rand, i int) string { return fmt.Sprintf("%0511d", i) }},
	"binary keys rewritten": {keys: 2000, commits: 12, key: anyBytes, size: upTo(9000), rewrite: true},
	"named":                 {keys: 2000, commits: 5, key: numbered, size: upTo(6000), names: []string{"mask", "a", "caption"}, rewrite: true},
	"hundred names":         {keys: 3, commits: 1, key: numbered, size: upTo(100), names: manyNames(100)},
}

func manyNames(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("a_field_with_a_long_name_%d", i)
	}
	return names
}

// write makes the environment in dir by LMDB alone.
func (s shape) write(t testing.TB, dir string) {
	t.Helper()
	env, err := lmdb.NewEnv()
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	_ = env.SetMaxDBs(max(1, len(s.names)))
	_ = env.SetMapSize(1 << 30)
	if err := env.Open(dir, lmdb.NoSync, 0o644); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	keys := make([]string, s.keys)
	for i := range keys {
		keys[i] = s.key(r, i)
	}
	for c := range s.commits {
		if err := env.Update(func(txn *lmdb.Txn) error { return s.commit(txn, r, keys, c) }); err != nil {
			t.Fatal(err)
		}
	}
}

func (s shape) commit(txn *lmdb.Txn, r *rand.Rand, keys []string, c int) error {
	for _, name := range append(s.names[:len(s.names):len(s.names)], "")[:max(1, len(s.names))] {
		db, err := txn.OpenRoot(0)
		if name != "" {
			db, err = txn.CreateDBI(name)
		}
		if err != nil {
			return err
		}
		if err := s.put(txn, db, r, keys, c); err != nil {
			return err
		}
	}
	return nil
}

func (s shape) put(txn *lmdb.Txn, db lmdb.DBI, r *rand.Rand, keys []string, c int) error {
	for i, key := range keys {
		if !s.rewrite && i%s.commits != c && !s.ordered || s.ordered && i*s.commits/len(keys) != c || s.rewrite && r.IntN(3) == 0 {
			continue
		}
		if s.rewrite && r.IntN(5) == 0 {
			if err := txn.Del(db, []byte(key), nil); err != nil && !lmdb.IsNotFound(err) {
				return err
			}
			continue
		}
		var flags uint
		if s.ordered {
			flags = lmdb.Append
		}
		value := make([]byte, s.size(r, i))
		for k := range value {
			value[k] = byte(i + k)
		}
		if err := txn.Put(db, []byte(key), value, flags); err != nil {
			return err
		}
	}
	return nil
}

// TestTwin: what LMDB's cursor gives is what we find and what our walk gives, in the same
// order; keys that LMDB does not have are not there for us.
func TestTwin(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.write(t, dir)
			theirs := openTransactions(t, dir, s.names)
			ours, err := lmdbfile.OpenEnvironment(dir, dataName, s.names)
			if err != nil {
				t.Fatal(err)
			}
			defer ours.Close()
			for db := range theirs.dbis {
				compare(t, theirs, ours, db)
			}
		})
	}
}

func compare(t *testing.T, theirs *transactions, ours *lmdbfile.Environment, db int) {
	t.Helper()
	var walked [][2][]byte
	if err := walk(ours, db, func(k, v []byte) { walked = append(walked, [2][]byte{bytes.Clone(k), bytes.Clone(v)}) }); err != nil {
		t.Fatal(err)
	}
	n := 0
	theirs.each(t, db, func(key, value []byte) {
		if n >= len(walked) || !bytes.Equal(walked[n][0], key) || !bytes.Equal(walked[n][1], value) {
			t.Fatalf("key %d, %q: not what the walk gives", n, key)
		}
		n++
		if got, err := ours.Get(db, string(key)); err != nil || !bytes.Equal(got, value) {
			t.Fatalf("key %q: %d bytes, %v, want %d", key, len(got), err, len(value))
		}
		for _, other := range []string{string(key) + "\x00", string(key[:len(key)-1]), "\xff" + string(key)} {
			_, want := theirs.txn.Get(theirs.dbis[db], []byte(other))
			if _, err := ours.Get(db, other); (err == nil) != (want == nil) {
				t.Fatalf("key %q: %v, LMDB says %v", other, err, want)
			}
		}
	})
	if n != len(walked) {
		t.Fatalf("%d keys, LMDB has %d", len(walked), n)
	}
}

// BenchmarkGet is one get of a random key in warm memory: ours and LMDB's.
func BenchmarkGet(b *testing.B) {
	for _, s := range []shape{
		{keys: 10_000, commits: 1, key: numbered, size: upTo(20_000), ordered: true},
		{keys: 500_000, commits: 1, key: numbered, size: upTo(100), ordered: true},
	} {
		dir := b.TempDir()
		s.write(b, dir)
		keys := make([]string, s.keys)
		for i, k := range rand.New(rand.NewPCG(3, 4)).Perm(s.keys) {
			keys[i] = s.key(nil, k)
		}
		ours, err := lmdbfile.OpenEnvironment(dir, dataName, nil)
		if err != nil {
			b.Fatal(err)
		}
		defer ours.Close()
		theirs := openTransactions(b, dir, nil)
		for name, get := range map[string]func(key string) ([]byte, error){
			"ours": func(key string) ([]byte, error) { return ours.Get(0, key) },
			"LMDB": func(key string) ([]byte, error) {
				return theirs.txn.Get(theirs.dbis[0], unsafe.Slice(unsafe.StringData(key), len(key)))
			},
		} {
			b.Run(fmt.Sprintf("keys=%d/%s", s.keys, name), func(b *testing.B) {
				each := func(i int) {
					if _, err := get(keys[i%len(keys)]); err != nil {
						b.Fatal(err)
					}
				}
				for i := range keys {
					each(i)
				}
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					each(i)
				}
			})
		}
	}
}
