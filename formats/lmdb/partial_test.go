//go:build cgo

package lmdb

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/internal/storage/lmdbfile"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
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
			s.Digest = checksum.Digest(sums.blocks)
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

// A checkpoint that does not fit its files is refused before LMDB's library opens them, and starting over is possible.
func TestMadeUpStages(t *testing.T) {
	whole := partialOf(t)
	page := os.Getpagesize()
	for name, change := range map[string]func(p *partial){
		"a large free page": func(p *partial) { p.state.Images.Free = append(p.state.Images.Free, 1<<51) },
		"the largest free page": func(p *partial) {
			p.state.Images.Free = append(p.state.Images.Free, 1<<64-1)
		},
		"short meta pages":  func(p *partial) { p.state.Images.Metas[1] = p.state.Images.Metas[1][:20] },
		"a negative length": func(p *partial) { p.state.Images.Size = -4096 },
		"a large length":    func(p *partial) { p.state.Images.Size = 1 << 62 },
		"pages of another machine": func(p *partial) {
			for _, m := range p.state.Images.Metas {
				binary.NativeEndian.PutUint32(m[lmdbfile.MetaPageSize:], uint32(2*page))
			}
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
