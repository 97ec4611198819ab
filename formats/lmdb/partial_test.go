//go:build cgo

package lmdb

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// partial is an unfinished dataset in memory, whose checksums are put right after it was
// changed.
type partial struct {
	*formatcheck.Partial
	state state
}

// partialOf stops a pack of some samples after a checkpoint that free pages come before.
func partialOf(t testing.TB) *partial {
	t.Helper()
	p := &partial{Partial: formatcheck.Stopped(t, Format{}, "x.lmdb", fixtureMeta, fixtureSamples())}
	must(t, json.Unmarshal(p.State, &p.state))
	return p
}

func (p *partial) data(fields bool) (name string, s *snapshot) {
	if fields {
		return filepath.Join("data", stagedName, fieldsName, dataName), p.state.Fields
	}
	return filepath.Join("data", stagedName, dataName), &p.state.Images
}

func (p *partial) clone() *partial {
	c := &partial{Partial: p.Clone(), state: p.state}
	fields := *p.state.Fields
	c.state.Fields = &fields
	for _, s := range []*snapshot{&c.state.Images, c.state.Fields} {
		for i := range s.Metas {
			s.Metas[i] = slices.Clone(s.Metas[i])
		}
		s.Free = slices.Clone(s.Free)
	}
	return c
}

// store lays the stage out, with digests and checksums that hold.
func (p *partial) store(t testing.TB, dir string) {
	t.Helper()
	for _, fields := range []bool{false, true} {
		name, s := p.data(fields)
		b := p.Files[name]
		last := uint64(s.Size) / uint64(os.Getpagesize())
		if s.Size > 0 && s.Size <= int64(len(b)) && (len(s.Free) == 0 || s.Free[len(s.Free)-1] < last) && slices.IsSorted(s.Free) {
			sums, err := (&blockChecksums{}).next(bytes.NewReader(b), s.Size, s.Free)
			must(t, err)
			s.Digest = sums.digest()
		}
	}
	var err error
	p.State, err = json.Marshal(p.state)
	must(t, err)
	p.Store(t, dir)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// A stage is made up so that LMDB's library would panic, or read or write outside of its
// pages; it is refused before the library opens it, and starting over is possible.
func TestMadeUpStages(t *testing.T) {
	whole := partialOf(t)
	page := os.Getpagesize()
	huge := make([]byte, 8)
	binary.NativeEndian.PutUint64(huge, 1<<60)
	for name, change := range map[string]func(p *partial){
		"a large free page": func(p *partial) { p.state.Images.Free = append(p.state.Images.Free, 1<<51) },
		"the largest free page": func(p *partial) {
			p.state.Images.Free = append(p.state.Images.Free, 1<<64-1)
		},
		"another root": func(p *partial) {
			for _, m := range p.state.Images.Metas {
				copy(m[lmdbfile.MetaMain+lmdbfile.DBRoot:], huge)
			}
		},
		"the root of the free list": func(p *partial) {
			for _, m := range p.state.Fields.Metas {
				copy(m[lmdbfile.MetaFree+lmdbfile.DBRoot:], huge)
			}
		},
		"a last page behind the end": func(p *partial) {
			for _, m := range p.state.Images.Metas {
				copy(m[lmdbfile.MetaLastPage:], huge)
			}
		},
		"a map at a fixed place": func(p *partial) {
			for _, m := range p.state.Images.Metas {
				m[lmdbfile.MetaFree+lmdbfile.DBFlags] |= 1
				copy(m[lmdbfile.MetaAddress:], huge)
			}
		},
		"short meta pages":  func(p *partial) { p.state.Images.Metas[1] = p.state.Images.Metas[1][:20] },
		"a negative length": func(p *partial) { p.state.Images.Size = -4096 },
		"a large length":    func(p *partial) { p.state.Images.Size = 1 << 62 },
		"pages as LMDB has them in memory": func(p *partial) {
			name, _ := p.data(false)
			b := slices.Clone(p.Files[name])
			for at := 2 * page; at < len(b); at += page {
				b[at+lmdbfile.PageFlags] |= 0x10
			}
			p.Files[name] = b
		},
		"nodes that lie outside of their pages": func(p *partial) {
			name, _ := p.data(true)
			b := slices.Clone(p.Files[name])
			for at := 2 * page; at < len(b); at += page {
				b[at+lmdbfile.PageHeader+1] = 0xff
			}
			p.Files[name] = b
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.lmdb")
			p := whole.clone()
			change(p)
			p.store(t, path+sidecar.PartialSuffix)
			if err := formatcheck.GoOn(Format{}, path, fixtureSamples()); !errors.Is(err, formats.ErrDamaged) {
				t.Fatalf("%v, want ErrDamaged", err)
			}
			must(t, staging.Discard(path))
			w, err := Format{}.Create(path, fixtureMeta, formats.CreateOptions{})
			must(t, err)
			must(t, w.Close())
		})
	}
	path := filepath.Join(t.TempDir(), "x.lmdb")
	whole.clone().store(t, path+sidecar.PartialSuffix)
	must(t, formatcheck.GoOn(Format{}, path, fixtureSamples()))
}

// Whatever LMDB writes is trusted: trees of all shapes, with and without free pages.
func TestWhatLMDBWritesIsTrusted(t *testing.T) {
	for name, s := range shapes {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			s.write(t, dir)
			theirs := openTransactions(t, dir, s.names)
			entries := -1
			for _, db := range theirs.dbis {
				st, err := theirs.txn.Stat(db)
				must(t, err)
				if entries >= 0 && uint64(entries) != st.Entries {
					t.Skip("the databases differ in length")
				}
				entries = int(st.Entries)
			}
			b, err := os.ReadFile(filepath.Join(dir, dataName))
			must(t, err)
			var metas [lmdbfile.MetaPages][]byte
			for i := range metas {
				metas[i] = b[metaOffset(i):][:lmdbfile.MetaLength]
			}
			must(t, validate(b, metas, os.Getpagesize(), s.names, entries))
		})
	}
}

// The check of a large file takes little memory: a bit a page.
func TestTrustOfALargeFile(t *testing.T) {
	const pages = 1 << 20
	s, dir, page := shapes["a leaf"], t.TempDir(), os.Getpagesize()
	s.write(t, dir)
	b, err := os.ReadFile(filepath.Join(dir, dataName))
	must(t, err)
	data, err := unix.Mmap(-1, 0, pages*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	must(t, err)
	defer func() { must(t, unix.Munmap(data)) }()
	copy(data, b)
	var metas [lmdbfile.MetaPages][]byte
	for i := range metas {
		metas[i] = data[metaOffset(i):][:lmdbfile.MetaLength]
		binary.NativeEndian.PutUint64(metas[i][lmdbfile.MetaLastPage:], pages-1)
	}
	theirs := openTransactions(t, dir, s.names)
	st, err := theirs.txn.Stat(theirs.dbis[0])
	must(t, err)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	must(t, validate(data, metas, page, s.names, int(st.Entries)))
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > pages/4 {
		t.Errorf("%d bytes for %d pages", n, pages)
	}
}

// FuzzPartial changes files of a stage and what its journal says of them, and puts all
// checksums right: resuming is an error or gives a dataset; nothing panics or crashes.
func FuzzPartial(f *testing.F) {
	whole := partialOf(f)
	f.Add(byte(0), uint32(0x2010), []byte{0xff, 0xff}, byte(0), uint32(0), []byte{})
	f.Add(byte(1), uint32(0x200a), []byte{0x10}, byte(2), uint32(lmdbfile.MetaMain+lmdbfile.DBRoot), []byte{9})
	f.Add(byte(3), uint32(lmdbfile.MetaFree), []byte{0, 0, 0, 0, 1}, byte(4), uint32(1), []byte("\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add(byte(5), uint32(40), []byte{0xff}, byte(0), uint32(0x3000), []byte{1, 2, 3})
	f.Add(byte(6), uint32(0), []byte(`[{"From":"x.lmdb.partial/data/dataset","To":"../y"}]`), byte(0), uint32(0), []byte{})
	f.Fuzz(func(t *testing.T, what byte, at uint32, with []byte, what2 byte, at2 uint32, with2 []byte) {
		p := whole.clone()
		p.change(what, at, with)
		p.change(what2, at2, with2)
		path := filepath.Join(t.TempDir(), "x.lmdb")
		p.store(t, path+sidecar.PartialSuffix)
		formatcheck.GoesOnOrNot(t, Format{}, path, fixtureSamples())
	})
}

// change overwrites bytes of one of the stage's parts.
func (p *partial) change(what byte, at uint32, with []byte) {
	switch what % 7 {
	case 0, 1:
		name, _ := p.data(what%7 == 1)
		p.Files[name] = formatcheck.Over(p.Files[name], at, with)
	case 2, 3:
		_, s := p.data(what%7 == 3)
		for i := range s.Metas {
			s.Metas[i] = formatcheck.Over(s.Metas[i], at, with)
		}
	case 4:
		_, s := p.data(at%2 == 1)
		for ; len(with) >= 8; with = with[8:] {
			s.Free = append(s.Free, binary.LittleEndian.Uint64(with))
		}
		slices.Sort(s.Free)
	case 5:
		p.Change(1, at, with)
	case 6:
		p.Change(3, at, with)
	}
}
