package lmdb

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// walk visits all keys of a database that are not damaged, in their order; a key is valid until visit returns.
func walk(e *lmdbfile.Environment, db int, visit func(key, value []byte)) error {
	d := e.Databases[db]
	if d.Err != nil {
		return d.Err
	}
	var damaged error
	for c := lmdbfile.NewCursor(e, db); ; {
		n, err := c.Next()
		if errors.Is(err, io.EOF) {
			return damaged
		}
		var value []byte
		if err == nil {
			value, err = e.Value(&n)
		}
		if err == nil {
			visit(n.Key(), value)
		}
		damaged = cmp.Or(damaged, err)
	}
}

// made is a data.mdb of pages of 512 bytes: two meta pages, a branch over two leaves, a
// value of two overflow pages, which is that of the key "k3".
func made() []byte {
	const size = 512
	b := make([]byte, 7*size)
	page := func(no, kind int) []byte {
		p := b[no*size : (no+1)*size]
		binary.NativeEndian.PutUint64(p, uint64(no))
		binary.NativeEndian.PutUint16(p[lmdbfile.PageFlags:], uint16(kind))
		return p
	}
	for no := range 2 {
		p := page(no, lmdbfile.KindMeta)
		for at, x := range map[int]uint32{lmdbfile.MetaMagic: lmdbfile.Magic, lmdbfile.MetaVersion: lmdbfile.DataVersion, lmdbfile.MetaPageSize: size} {
			binary.NativeEndian.PutUint32(p[at:], x)
		}
		for at, x := range map[int]uint64{lmdbfile.MetaMain + lmdbfile.DBRoot: 2, lmdbfile.MetaLastPage: 6, lmdbfile.MetaTxn: uint64(no)} {
			binary.NativeEndian.PutUint64(p[at:], x)
		}
	}
	nodes(page(2, lmdbfile.KindBranch), []testNode{{size: 3}, {key: "k2", size: 4}})
	nodes(page(3, lmdbfile.KindLeaf), []testNode{{key: "k0", size: 2, data: "v0"}, {key: "k1", size: 0}})
	nodes(page(4, lmdbfile.KindLeaf), []testNode{{key: "k2", size: 2, data: "v2"}, {
		key: "k3", size: 900, flags: lmdbfile.NodeBig, data: string(binary.NativeEndian.AppendUint64(nil, 5)),
	}})
	over := page(5, lmdbfile.KindOverflow)
	binary.NativeEndian.PutUint32(over[lmdbfile.PagePages:], 2)
	copy(b[5*size+lmdbfile.PageHeader:], strings.Repeat("v3", 450))
	return b
}

type testNode struct {
	key   string
	size  uint32
	flags uint16
	data  string
}

func nodes(p []byte, list []testNode) {
	at := len(p)
	for i, n := range list {
		at -= lmdbfile.NodeHeader + len(n.key) + len(n.data)
		binary.NativeEndian.PutUint16(p[lmdbfile.PageHeader+2*i:], uint16(at))
		binary.NativeEndian.PutUint32(p[at:], n.size)
		binary.NativeEndian.PutUint16(p[at+lmdbfile.NodeFlags:], n.flags)
		binary.NativeEndian.PutUint16(p[at+lmdbfile.NodeKeySize:], uint16(len(n.key)))
		copy(p[at+lmdbfile.NodeHeader:], n.key+n.data)
	}
	binary.NativeEndian.PutUint16(p[lmdbfile.PageLower:], uint16(lmdbfile.PageHeader+2*len(list)))
	binary.NativeEndian.PutUint16(p[lmdbfile.PageUpper:], uint16(at))
}

func TestOtherPageSize(t *testing.T) {
	e, err := newEnvironment(dataName, made(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"k0": "v0", "k1": "", "k2": "v2", "k3": strings.Repeat("v3", 450)} {
		if got, err := e.Get(0, key); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", key, got, err)
		}
	}
	if _, err := e.Get(0, "k"); !errors.Is(err, formats.ErrDamaged) || !errors.Is(err, lmdbfile.ErrNoKey) {
		t.Errorf("a key that is not there: %v", err)
	}
}

// TestHostile: each number that is wrong is an error that names the page.
func TestHostile(t *testing.T) {
	const (
		branch, left, right, over = 2 * 512, 3 * 512, 4 * 512, 5 * 512
		big                       = right + 512 - 2*lmdbfile.NodeHeader - 2 - 2 - 2 - 8
	)
	u16, u32, u64 := binary.NativeEndian.PutUint16, binary.NativeEndian.PutUint32, binary.NativeEndian.PutUint64
	for name, c := range map[string]struct {
		change func(b []byte)
		key    string
		want   string
	}{
		"root beyond the file":     {func(b []byte) { u64(b[512+lmdbfile.MetaMain+lmdbfile.DBRoot:], 7) }, "k0", "page 7"},
		"root is huge":             {func(b []byte) { u64(b[512+lmdbfile.MetaMain+lmdbfile.DBRoot:], 1<<63+2) }, "k0", "page 9223372036854775810"},
		"root is a meta page":      {func(b []byte) { u64(b[512+lmdbfile.MetaMain+lmdbfile.DBRoot:], 0) }, "k0", "page 0"},
		"root beyond the last":     {func(b []byte) { u64(b[512+lmdbfile.MetaLastPage:], 1) }, "k0", "page 2"},
		"other order of keys":      {func(b []byte) { u16(b[512+lmdbfile.MetaMain+lmdbfile.DBFlags:], 2) }, "k0", "page 1"},
		"loop":                     {func(b []byte) { u32(b[branch+512-10:], 2); u32(b[branch+512-18:], 2) }, "k3", "page 2"},
		"child beyond 32 bits":     {func(b []byte) { u16(b[branch+512-18+lmdbfile.NodeFlags:], 1) }, "k2", "page 4294967300"},
		"another page's number":    {func(b []byte) { u64(b[left:], 4) }, "k0", "page 3"},
		"branch and leaf":          {func(b []byte) { u16(b[left+lmdbfile.PageFlags:], lmdbfile.KindBranch|lmdbfile.KindLeaf) }, "k0", "page 3"},
		"fixed-size duplicates":    {func(b []byte) { u16(b[left+lmdbfile.PageFlags:], lmdbfile.KindLeaf|0x20) }, "k0", "page 3"},
		"no nodes":                 {func(b []byte) { u16(b[left+lmdbfile.PageLower:], lmdbfile.PageHeader) }, "k0", "page 3"},
		"nodes end in the header":  {func(b []byte) { u16(b[left+lmdbfile.PageLower:], 2) }, "k0", "page 3"},
		"nodes beyond the page":    {func(b []byte) { u16(b[left+lmdbfile.PageUpper:], 513) }, "k0", "page 3"},
		"more nodes than room":     {func(b []byte) { u16(b[left+lmdbfile.PageLower:], 600) }, "k0", "page 3"},
		"node in the header":       {func(b []byte) { u16(b[left+lmdbfile.PageHeader:], 4) }, "k0", "page 3"},
		"node at the page's end":   {func(b []byte) { u16(b[left+lmdbfile.PageHeader:], 505) }, "k0", "page 3"},
		"key beyond the page":      {func(b []byte) { u16(b[left+512-12+lmdbfile.NodeKeySize:], 600) }, "k0", "page 3"},
		"value beyond the page":    {func(b []byte) { u32(b[left+512-12:], 600) }, "k0", "page 3"},
		"value of 4 GiB":           {func(b []byte) { u32(b[big:], 1<<32-1) }, "k3", "page 5"},
		"value beyond its pages":   {func(b []byte) { u32(b[big:], 1024-lmdbfile.PageHeader+1) }, "k3", "page 5"},
		"no overflow page":         {func(b []byte) { u64(b[big+lmdbfile.NodeHeader+2:], 4) }, "k3", "page 4"},
		"overflow page is far":     {func(b []byte) { u64(b[big+lmdbfile.NodeHeader+2:], 1<<55) }, "k3", "page 36028797018963968"},
		"overflow beyond the file": {func(b []byte) { u32(b[over+lmdbfile.PagePages:], 3) }, "k3", "page 5"},
		"a database for a value":   {func(b []byte) { u16(b[big+lmdbfile.NodeFlags:], lmdbfile.NodeDatabase) }, "k3", "page 4"},
		"number cut off":           {func(b []byte) { u16(b[big+lmdbfile.NodeKeySize:], 600) }, "k3", "page 4"},
	} {
		t.Run(name, func(t *testing.T) {
			b := made()
			c.change(b)
			e, _ := newEnvironment(dataName, b, nil)
			_, err := e.Get(0, c.key)
			if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), c.want+":") {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestMetaPages: a damaged meta page is an error of opening, and what the other one tells is
// there to be salvaged.
func TestMetaPages(t *testing.T) {
	for name, change := range map[string]func(b []byte){
		"magic":     func(b []byte) { b[lmdbfile.MetaMagic] ^= 1 },
		"version":   func(b []byte) { b[lmdbfile.MetaVersion] ^= 1 },
		"page size": func(b []byte) { b[lmdbfile.MetaPageSize+2] ^= 1 },
		"huge":      func(b []byte) { copy(b[lmdbfile.MetaPageSize:], "\xff\xff\xff\xff") },
		"flags":     func(b []byte) { b[lmdbfile.PageFlags] ^= lmdbfile.KindMeta },
		"number":    func(b []byte) { b[0] ^= 4 },
	} {
		for no := range 3 {
			b := made()
			if no != 1 {
				change(b)
			}
			if no != 0 {
				change(b[512:])
			}
			e, err := newEnvironment(dataName, b, nil)
			if !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("%s of %d: opens: %v", name, no, err)
			}
			got, err := e.Get(0, "k2")
			if both := no == 2; (err != nil) != both || string(got) != "v2" && !both {
				t.Errorf("%s of %d: %q, %v", name, no, got, err)
			}
		}
	}
	for n := range 512 + lmdbfile.MetaLength {
		if _, err := newEnvironment(dataName, made()[:n], nil); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("%d bytes of it: %v", n, err)
		}
	}
}

// TestEveryBit flips each bit of a small file: no read ends but with a value or ErrDamaged.
func TestEveryBit(t *testing.T) {
	b := made()
	for bit := range 8 * len(b) {
		b[bit/8] ^= 1 << (bit % 8)
		e, _ := newEnvironment(dataName, b, nil)
		for _, key := range []string{"k0", "k1", "k2", "k3", "k4"} {
			if _, err := e.Get(0, key); err != nil && !errors.Is(err, formats.ErrDamaged) {
				t.Fatal(err)
			}
		}
		_ = walk(e, 0, func([]byte, []byte) {})
		b[bit/8] ^= 1 << (bit % 8)
	}
}

// TestFlippedBits flips bits of the pages of the trees and of the meta pages, one in every
// few, so that each byte has its turn, and gets all values: each is right or an error, or Read
// finds by the checksum that it is not.
func TestFlippedBits(t *testing.T) {
	images, fields := fixtureFile(t, dataName), fixtureFile(t, fieldsName+"/"+dataName)
	ds := inMemory(t, images, fields)
	t.Run("images", func(t *testing.T) {
		flipTrees(t, ds, images, 3, func() (e *lmdbfile.Environment, err error) {
			ds.images, err = newEnvironment(dataName, images, nil)
			return ds.images, err
		})
	})
	ds = inMemory(t, images, fields)
	t.Run("fields", func(t *testing.T) {
		flipTrees(t, ds, fields, 11, func() (e *lmdbfile.Environment, err error) {
			ds.fields, err = newEnvironment("fields", fields, fieldNames(fixtureMeta.Schema, ds.extra))
			return ds.fields, err
		})
	})
}

func flipTrees(t *testing.T, ds *dataset, file []byte, step int, open func() (*lmdbfile.Environment, error)) {
	whole, err := open()
	if err != nil {
		t.Fatal(err)
	}
	values := map[int][][]byte{} // by database, then sample
	for db := range whole.Databases {
		for i := range ds.Len() {
			b, err := whole.Get(db, keyAt(ds, i))
			if err != nil {
				t.Fatal(err)
			}
			values[db] = append(values[db], slices.Clone(b))
		}
	}
	if testing.Short() {
		step = 31
	}
	var refused, failed, found int
	for bit := 0; bit < 8*len(file); bit += step {
		if head := file[bit/8/whole.Size*whole.Size:]; lmdbfile.U16(head[lmdbfile.PageFlags:])&(lmdbfile.KindBranch|lmdbfile.KindLeaf|lmdbfile.KindMeta) == 0 {
			continue
		}
		file[bit/8] ^= 1 << (bit % 8)
		e, err := open()
		if err != nil {
			refused++
		}
		for db, want := range values {
			f, wrong := getAll(t, ds, e, db, want)
			failed, found = failed+f, found+wrong
		}
		file[bit/8] ^= 1 << (bit % 8)
	}
	t.Logf("%d opens and %d gets failed, %d values differed", refused, failed, found)
	if refused == 0 || failed == 0 || found == 0 {
		t.Error("no bit was noticed")
	}
}

// getAll counts the values that cannot be had and those that are wrong, which Read must
// find out.
func getAll(t *testing.T, ds *dataset, e *lmdbfile.Environment, db int, want [][]byte) (failed, wrong int) {
	for i := range want {
		entry, err := ds.Index().At(i)
		if err != nil {
			t.Fatal(err)
		}
		at := entry.Location()
		if e == ds.fields {
			at = entry.Field(db)
		}
		got, err := e.GetAt(db, at, []byte(keyAt(ds, i)))
		switch {
		case err != nil:
			failed++
			if !errors.Is(err, formats.ErrDamaged) {
				t.Fatalf("key %q: %v", keyAt(ds, i), err)
			}
		case !bytes.Equal(got, want[i]):
			wrong++
			var s formats.Sample
			err := ds.Read(i, &s)
			if err == nil && equal(&s, fixtureSample(i)) {
				continue // padding of a header
			}
			if !errors.Is(err, formats.ErrDamaged) {
				t.Fatalf("key %q: read with %v: %+v", keyAt(ds, i), err, s.Values)
			}
		}
	}
	return failed, wrong
}

// FuzzPages changes bytes of a small data.mdb: it opens or does not, and whatever is read
// from it lies within it.
func FuzzPages(f *testing.F) {
	files := [][]byte{made(), fixtureFile(f, dataName), fixtureFile(f, fieldsName+"/"+dataName)}
	f.Add(uint8(0), uint16(0), []byte{})
	f.Add(uint8(0), uint16(512), []byte{0, 0, 1, 0, 2, 90, 0xff})
	f.Add(uint8(1), uint16(0), []byte{0, 0, 90, 3, 0, 80, 18, 255})
	f.Add(uint8(2), uint16(4096), []byte{0, 32, 12, 9})
	f.Fuzz(func(t *testing.T, which uint8, cut uint16, changes []byte) {
		b := slices.Clone(files[int(which)%len(files)])
		b = b[: len(b)-int(cut)%len(b) : len(b)]
		for ; len(changes) >= 4; changes = changes[4:] { // place in 3 bytes, new value
			at := int(changes[0])<<16 | int(changes[1])<<8 | int(changes[2])
			b[at%len(b)] = changes[3]
		}
		var names []string
		if int(which)%len(files) == 2 {
			names = []string{"mask", "caption", "no such"}
		}
		e, _ := newEnvironment(dataName, b, names)
		within := func(_, value []byte) {
			if len(value) > len(b) || cap(value) != len(value) {
				t.Fatalf("a value of %d bytes, room for %d, in a file of %d", len(value), cap(value), len(b))
			}
			_ = bytes.Count(value, []byte{0}) // touches all of it
		}
		for db := range e.Databases {
			_ = walk(e, db, within)
			within(nil, someValue(e, db, uint(cut)))
			for i := range 10 {
				for _, key := range []string{fmt.Sprintf("k%d", i), fixtureSample(4 * i).Key, "", strings.Repeat("z", 4*i)} {
					value, err := e.Get(db, key)
					if err != nil && !errors.Is(err, formats.ErrDamaged) {
						t.Fatal(err)
					}
					within(nil, value)
				}
			}
		}
	})
}

// someValue is a value at a location that is made up from n, or at a key's.
func someValue(e *lmdbfile.Environment, db int, n uint) []byte {
	key := fixtureSample(int(n % fixtureCount)).Key
	at := sampleindex.Location{Offset: int64(n * 37), Length: int64(n % 300)}
	if s := newScan(e, db, func(error) error { return nil }); n%2 == 0 && e.Databases[db].Err == nil {
		at, _ = s.locate(key)
	}
	value, _ := e.GetAt(db, at, []byte(key))
	return value
}

// keyAt is the key of sample i.
func keyAt(ds *dataset, i int) string {
	key, _ := ds.Index().KeyOf(i)
	return key
}
