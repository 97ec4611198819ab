package edit

import (
	"context"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/preprocess"
)

// content tells a file's bytes from all others.
type content struct {
	size int64
	hash [16]byte
}

func contentOf(s *formats.Source) content { return content{s.Size, s.Hash} }

// moved is what a file that was renamed may have been: a sample that was removed by hand, or
// one that the source has no more and of which something was set by hand.
type movedFiles struct {
	sizes   map[int64]bool
	removed map[content]int   // place in the list
	edited  map[content]int32 // sample of the target
}

// followRenamed treats new samples whose file is one that an edit was about under its earlier
// name as that: they stay out, or keep what was set.
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
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old >= 0 {
			continue
		}
		in, err := a.src.Info(int(p.src))
		if err != nil {
			return err
		}
		c := content{in.Source.Size, hashes[k]}
		if i, ok := m.removed[c]; ok {
			a.keepOut(p, i)
		} else if i, ok := m.edited[c]; ok && !a.o.ResetEdits {
			if err := a.moveEdits(p, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// stayOut leaves the new sample of p out, which was removed as number i of the list, unless edits
// are reset.
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

// moved lists what files of the sizes of new ones may have been. A file that is in the dataset
// beside the removed one is no reason to leave anything out: one of two that are equal was
// removed.
func (a *adder) findMoved() (*movedFiles, error) {
	m := &movedFiles{sizes: map[int64]bool{}, removed: map[content]int{}, edited: map[content]int32{}}
	fresh, err := a.sizesOfNew()
	if err != nil || len(fresh) == 0 {
		return m, err
	}
	for i := range a.removals.list {
		if c := contentOf(&a.removals.list[i].Source); fresh[c.size] && c.hash != [16]byte{} {
			m.removed[c] = i
		}
	}
	for k := range a.pairs {
		p := &a.pairs[k]
		if p.old < 0 {
			continue
		}
		in, err := a.target.Info(int(p.old))
		if err != nil {
			return nil, err
		}
		c := contentOf(&in.Source)
		delete(m.removed, c)
		if p.src < 0 && in.Mark.Edited != 0 && fresh[c.size] && c.hash != [16]byte{} {
			m.edited[c] = p.old
		}
	}
	for c := range m.removed {
		m.sizes[c.size] = true
	}
	for c := range m.edited {
		m.sizes[c.size] = true
	}
	return m, nil
}

// sizesOfNew are those of the files that only the source has.
func (a *adder) sizesOfNew() (map[int64]bool, error) {
	sizes := map[int64]bool{}
	for k := range a.pairs {
		if p := &a.pairs[k]; p.old < 0 {
			in, err := a.src.Info(int(p.src))
			if err != nil {
				return nil, err
			}
			sizes[in.Source.Size] = true
		}
	}
	return sizes, nil
}

// hashNew hashes the new files of those sizes, by pair. What cannot be read is none of them; the
// run says what is wrong with it.
func (a *adder) hashNew(ctx context.Context, m *movedFiles) (map[int][16]byte, error) {
	var ask []int
	for k := range a.pairs {
		if p := &a.pairs[k]; p.old < 0 {
			in, err := a.src.Info(int(p.src))
			if err != nil {
				return nil, err
			}
			if m.sizes[in.Source.Size] {
				ask = append(ask, k)
			}
		}
	}
	found := make([][16]byte, len(ask))
	image := a.src.Meta().Schema.ImageIndex()
	err := parallel.Each(ctx, len(ask), a.o.Workers, func() (func(int) error, func(), error) {
		var s formats.Sample
		return func(i int) error {
			in, err := a.src.Info(int(a.pairs[ask[i]].src))
			if err != nil {
				return err
			}
			if found[i] = in.Source.Hash; found[i] != [16]byte{} {
				return nil
			}
			err = guard.Do(func() error { return a.src.Read(int(a.pairs[ask[i]].src), &s) })
			if preprocess.EndsRun(err) {
				return fmt.Errorf("key %q: %w", in.Key, err)
			}
			if err == nil {
				found[i] = atrest.Hash(s.Values[image].Data)
			}
			return nil
		}, func() {}, nil
	})
	hashes := make(map[int][16]byte, len(ask))
	for i, k := range slices.All(ask) {
		hashes[k] = found[i]
	}
	return hashes, err
}

// moveEdits gives the new sample of p what was set by hand of sample i of the target.
func (a *adder) moveEdits(p *pair, i int32) error {
	old, err := a.targetSample(i).Info(0)
	if err != nil {
		return err
	}
	c := &change{}
	if err := a.carryEdits(c, i, &old, old.Mark.Edited); err != nil {
		return err
	}
	c.mark = &formats.Mark{Edited: old.Mark.Edited, Origin: old.Mark.Origin}
	p.change = c
	a.found.KeptEdits++
	return nil
}
