//go:build cgo

package lmdb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// TestLocations: every value that LMDB's cursor gives is at the location that ours gives, in trees of all
// shapes; values are found there by their key and length alone.
func TestLocations(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.write(t, dir)
			theirs := openTransactions(t, dir, s.names)
			ours, err := lmdbfile.OpenEnvironment(dir, dataName, s.names)
			must(t, err)
			defer ours.Close()
			for db := range theirs.dbis {
				sc := newScan(ours, db, func(err error) error { return err })
				theirs.each(t, db, func(key, value []byte) {
					at, err := sc.locate(string(key))
					must(t, err)
					if at.Length != int64(len(value)) || !bytes.Equal(ours.Data[at.Offset:at.Offset+at.Length], value) {
						t.Fatalf("key %q: %+v, LMDB says %d bytes", key, at, len(value))
					}
					checkValueAt(t, ours, at.Offset, string(key), value)
				})
				must(t, sc.finish())
			}
		})
	}
}

// checkValueAt wants the value at its location, and errors beside it.
func checkValueAt(t *testing.T, e *lmdbfile.Environment, offset int64, key string, value []byte) {
	t.Helper()
	at := sampleindex.Location{Offset: offset, Length: int64(len(value))}
	got, err := e.ValueAt(at, []byte(key))
	if err != nil || !bytes.Equal(got, value) {
		t.Fatalf("key %q at %+v: %d bytes, %v", key, at, len(got), err)
	}
	inLeaf := offset%int64(e.Size) != lmdbfile.PageHeader
	for _, wrong := range []struct {
		at  sampleindex.Location
		key string
	}{
		{sampleindex.Location{Offset: offset + 1, Length: at.Length}, key},
		{sampleindex.Location{Offset: offset - 1, Length: at.Length}, key},
		{sampleindex.Location{Offset: offset, Length: at.Length + int64(e.Size)}, key},
		{sampleindex.Location{Offset: offset, Length: at.Length - int64(e.Size)*2}, key},
		{sampleindex.Location{Offset: offset + int64(len(e.Data)), Length: at.Length}, key},
		{at, key + "\x00"},
		{at, key[1:]},
		{at, strings.Repeat("\xff", len(key))},
	} {
		if !inLeaf && (wrong.key != key || wrong.at.Length < at.Length) {
			continue // overflow pages have no key, and say how many they are
		}
		if b, err := e.ValueAt(wrong.at, []byte(wrong.key)); !errors.Is(err, formats.ErrDamaged) && len(b) > 0 {
			t.Fatalf("key %q at %+v of %+v: %d bytes, %v", wrong.key, wrong.at, at, len(b), err)
		}
	}
}

// TestScanComparesKeys: keys that the tree lacks and keys that nobody asked for are named.
func TestScanComparesKeys(t *testing.T) {
	dir := t.TempDir()
	s := shape{keys: 1000, commits: 1, key: numbered, size: upTo(300), ordered: true}
	s.write(t, dir)
	e, err := lmdbfile.OpenEnvironment(dir, dataName, nil)
	must(t, err)
	defer e.Close()
	var wrong []string
	sc := newScan(e, 0, func(err error) error { wrong = append(wrong, err.Error()); return nil })
	for i := range 998 {
		key := numbered(nil, i)
		if i == 1 || i == 500 {
			continue
		}
		if at, _ := sc.locate(key); at.Offset == 0 {
			t.Fatalf("key %q is not found", key)
		}
		if i == 700 {
			if at, _ := sc.locate(key + "+"); at != (sampleindex.Location{}) {
				t.Fatalf("a key that is not there: %+v", at)
			}
		}
	}
	must(t, sc.finish())
	if at, _ := sc.locate("z"); at != (sampleindex.Location{}) {
		t.Fatalf("a key after the last: %+v", at)
	}
	want := []string{"class/0000001", "class/0000500", "class/0000700+", "class/0000998", "class/0000999", `"z" is missing`}
	if len(wrong) != len(want) {
		t.Fatalf("got %q", wrong)
	}
	for i := range want {
		if !strings.Contains(wrong[i], want[i]) {
			t.Errorf("got %q, want %q", wrong[i], want[i])
		}
	}
}

// TestDamagedPageOnce: a damaged page is one error, and what is beside it is found.
func TestDamagedPageOnce(t *testing.T) {
	dir := t.TempDir()
	shape{keys: 5000, commits: 1, key: numbered, size: upTo(60), ordered: true}.write(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, dataName))
	must(t, err)
	whole, err := newEnvironment(dataName, b, nil)
	must(t, err)
	leaf, err := whole.Find(whole.Databases[0].Root, []byte(numbered(nil, 2500)))
	must(t, err)
	clear(b[int(leaf.Page)*whole.Size:][:whole.Size])
	var wrong []error
	sc := newScan(whole, 0, func(err error) error { wrong = append(wrong, err); return nil })
	lost := 0
	for i := range 5000 {
		if at, _ := sc.locate(numbered(nil, i)); at.Offset == 0 {
			lost++
		}
	}
	must(t, sc.finish())
	if page := new(lmdbfile.PageError); len(wrong) != 1 || !errors.As(wrong[0], &page) || page.No != leaf.Page {
		t.Errorf("got %v, want page %d", wrong, leaf.Page)
	}
	if lost == 0 || lost > 300 {
		t.Errorf("%d keys are lost", lost)
	}
}

// TestSharedChildren: branches all of whose nodes lead to one page below would be visited 300^11 times.
func TestSharedChildren(t *testing.T) {
	const size, levels, children = 4096, 12, 300
	for _, last := range []string{"", "k"} { // a damaged leaf, and one whose key comes again
		b := make([]byte, size*(lmdbfile.MetaPages+levels))
		for level := range levels {
			no := lmdbfile.MetaPages + level
			p := b[no*size : (no+1)*size]
			binary.NativeEndian.PutUint64(p, uint64(no))
			list, kind := make([]testNode, children), lmdbfile.KindBranch
			for i := range list {
				list[i] = testNode{size: uint32(no + 1)}
			}
			if level == levels-1 {
				list, kind = []testNode{{key: last, size: 1, data: "v"}}, lmdbfile.KindLeaf
			}
			binary.NativeEndian.PutUint16(p[lmdbfile.PageFlags:], uint16(kind))
			nodes(p, list)
		}
		c := lmdbfile.NewCursor(&lmdbfile.Environment{
			Pages: lmdbfile.Pages{Data: b, Size: size, Count: lmdbfile.MetaPages + levels}, Mapping: &mapped.Mapping{Data: b}, Databases: []lmdbfile.Database{{Root: lmdbfile.MetaPages}},
		}, 0)
		found, damaged := 0, 0
		for {
			n, err := c.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				damaged++
				continue
			}
			found += len(n.Key())
		}
		if found != len(last) || damaged == 0 || damaged > lmdbfile.MetaPages+levels {
			t.Errorf("%d keys and %d damaged pages of %d", found, damaged, lmdbfile.MetaPages+levels)
		}
	}
}

// TestUnreadablePages: what a page that cannot be read had is not found, and nothing else is taken for it.
func TestUnreadablePages(t *testing.T) {
	dir := t.TempDir()
	shape{keys: 20_000, commits: 1, key: numbered, size: upTo(60), ordered: true}.write(t, dir)
	file := filepath.Join(dir, dataName)
	e, err := lmdbfile.OpenEnvironment(dir, dataName, nil)
	must(t, err)
	defer e.Close()
	want := make([]sampleindex.Location, 20_000)
	s := newScan(e, 0, func(err error) error { return err })
	for i := range want {
		want[i], err = s.locate(numbered(nil, i))
		must(t, err)
	}
	left := int64(e.Databases[0].Root+1) * int64(e.Size) // pages that were written after the root are lost
	must(t, os.Truncate(file, left))
	unreadable, lost := 0, 0
	s = newScan(e, 0, func(err error) error {
		if !errors.As(err, new(*guard.ReadError)) {
			t.Errorf("not about a page that cannot be read: %v", err)
		}
		unreadable++
		return nil
	})
	for i := range want {
		at, err := s.locate(numbered(nil, i))
		must(t, err)
		if at == (sampleindex.Location{}) {
			lost++
		} else if at != want[i] {
			t.Fatalf("key %d: %+v, it was %+v", i, at, want[i])
		}
		if _, err := e.GetAt(0, want[i], []byte(numbered(nil, i))); (err != nil) != (want[i].Offset >= left) {
			t.Fatalf("key %d of a file with %d bytes at %+v: %v", i, left, want[i], err)
		}
	}
	if unreadable == 0 || lost == 0 || lost == len(want) {
		t.Errorf("%d pages cannot be read, %d of %d keys are lost", unreadable, lost, len(want))
	}
}
