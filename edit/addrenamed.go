package edit

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// content identifies a file by its bytes.
type content struct {
	size int64
	hash [16]byte
}

func contentOf(s *formats.Source) content { return content{s.Size, s.Hash} }

// movedFiles has the samples that a new file may be under another name: samples removed by hand, and
// samples edited by hand that the source lacks.
type movedFiles struct {
	sizes   map[int64]bool
	removed map[content]int   // index into the list of removals
	edited  map[content]int32 // sample of the target
}

// followRenamed finds new samples whose file was edited by hand under its earlier name. A removed
// file stays removed, an edited one keeps its edits.
func (a *adder) followRenamed(ctx context.Context) error {
	if a.target.Meta().History == nil {
		return nil
	}
	m, err := a.findMoved()
	if err != nil || len(m.sizes) == 0 {
		return err
	}
	hashes, err := a.hashNew(ctx, m)
	if err != nil {
		return err
	}
	return a.eachNew(func(k int, p *pair, in *formats.Info) error {
		c := content{in.Source.Size, hashes[k]}
		if i, ok := m.removed[c]; ok {
			a.keepOut(p, i)
		} else if i, ok := m.edited[c]; ok && !a.o.ResetEdits {
			return a.moveEdits(p, i)
		}
		return nil
	})
}

// eachNew calls f for each pair that only the source has.
func (a *adder) eachNew(f func(k int, p *pair, in *formats.Info) error) error {
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old >= 0 {
			continue
		}
		in, err := a.src.Info(int(p.src))
		if err == nil {
			err = f(k, p, &in)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// eachOld calls f for each pair that the target has, with the target's Info.
func (a *adder) eachOld(f func(p *pair, in *formats.Info)) error {
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 {
			continue
		}
		in, err := a.target.Info(int(p.old))
		if err != nil {
			return err
		}
		f(p, &in)
	}
	return nil
}

// keepOut leaves out the new sample of p, which is entry i of the list of removed samples, unless
// edits are reset.
func (a *adder) keepOut(p *pair, i int) {
	if a.o.ResetEdits {
		if !a.removals.restored[i] {
			a.removals.restored[i] = true
			a.found.Reset++
		}
		return
	}
	p.dropped = true
	a.found.New--
	a.found.KeptOut++
}

// findMoved lists the samples that new files may be, by size. If the dataset still has a sample with
// the bytes of a removed one, the removed one was a duplicate, and no new file is left out for it.
func (a *adder) findMoved() (*movedFiles, error) {
	m := &movedFiles{sizes: map[int64]bool{}, removed: map[content]int{}, edited: map[content]int32{}}
	sizes := map[int64]bool{} // of new files
	err := a.eachNew(func(_ int, _ *pair, in *formats.Info) error { sizes[in.Source.Size] = true; return nil })
	if err != nil || len(sizes) == 0 {
		return m, err
	}
	for i := range a.removals.list {
		if c := contentOf(&a.removals.list[i].Source); sizes[c.size] && c.hash != [16]byte{} {
			m.removed[c] = i
		}
	}
	err = a.eachOld(func(p *pair, in *formats.Info) {
		c := contentOf(&in.Source)
		delete(m.removed, c)
		if p.src < 0 && in.Provenance.Edited != 0 && sizes[c.size] && c.hash != [16]byte{} {
			m.edited[c] = p.old
		}
	})
	for c := range m.removed {
		m.sizes[c.size] = true
	}
	for c := range m.edited {
		m.sizes[c.size] = true
	}
	return m, err
}

// hashNew hashes the new files of the sizes in m, and returns the hashes by index of the pair. A file
// that cannot be read has no hash; the run reports its error.
func (a *adder) hashNew(ctx context.Context, m *movedFiles) ([][16]byte, error) {
	var pairs []int
	if err := a.eachNew(func(k int, _ *pair, in *formats.Info) error {
		if m.sizes[in.Source.Size] {
			pairs = append(pairs, k)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	hashes := make([][16]byte, len(a.pairs))
	return hashes, lifetime.Wait(ctx, func() error { return a.hashAll(ctx, pairs, hashes) })
}

// hashAll sets the hashes of the new files of pairs.
func (a *adder) hashAll(ctx context.Context, pairs []int, hashes [][16]byte) error {
	image := a.src.Meta().Schema.ImageIndex()
	return parallel.Each(ctx, len(pairs), a.o.Workers, func() (func(int) error, func(), error) {
		var s formats.Sample
		return func(i int) error {
			k := pairs[i]
			index := int(a.pairs[k].src)
			in, err := a.src.Info(index)
			if err != nil {
				return err
			}
			if hashes[k] = in.Source.Hash; hashes[k] != [16]byte{} {
				return nil
			}
			err = guard.Do(func() error { return a.src.Read(index, &s) })
			if endsRun(err) {
				return fmt.Errorf("key %q: %w", in.Key, err)
			}
			if err == nil {
				hashes[k] = checksum.Hash(s.Values[image].Data)
			}
			return nil
		}, func() {}, nil
	})
}

// moveEdits gives the new sample of p the edits by hand of sample i of the target.
func (a *adder) moveEdits(p *pair, i int32) error {
	old, err := a.targetSample(i).Info(0)
	if err != nil {
		return err
	}
	c := &change{}
	if err := a.carryEdits(c, i, &old, old.Provenance.Edited); err != nil {
		return err
	}
	c.mark = &formats.Provenance{Edited: old.Provenance.Edited, Origin: old.Provenance.Origin}
	p.change = c
	a.found.KeptEdits++
	return nil
}
