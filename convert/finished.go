package convert

import (
	"github.com/dsconv/dsconv/formats"
)

// Finished returns a report on the dataset at the plan's path if an earlier run of the same plan
// has written it; ok is false if there is no dataset or another one. A command with several plans
// uses it to skip those that are finished.
func (p *Plan) Finished() (r *Report, ok bool) {
	if p.src == nil || p.growing != nil {
		return nil, false
	}
	ds, err := p.format.Open(p.Path)
	if err != nil {
		return nil, false
	}
	defer ds.Close()
	m := ds.Meta()
	if p.recipeDiff(m.Recipe) != "" || !sameSchema(m.Schema, p.Meta.Schema) || p.o.Stats != (m.PixelStats != nil) {
		return nil, false
	}
	r = &Report{Path: p.Path, Shards: p.Shards, Found: p.Len(), Resumed: p.Len(), PixelStats: m.PixelStats, Results: Results{Written: ds.Len()}}
	selected := make([]uint64, p.src.Len()/64+1) // a bit for each index
	for pos := range p.Len() {
		i := p.order.at(pos)
		selected[i/64] |= 1 << (i % 64)
	}
	at := 0
	for i := range p.src.Len() {
		if selected[i/64]&(1<<(i%64)) == 0 {
			continue
		}
		in, err := p.src.Info(i)
		if err != nil {
			return nil, false
		}
		same, err := p.sameInfo(ds, at, &in, p.splits.Of(i, in))
		if err != nil {
			return nil, false
		}
		if same {
			at++
			continue
		}
		e := sourceEntry{key: in.Key, path: in.Source.Path}
		r.Skipped = append(r.Skipped, Problem{Path: e.name(), Cause: "skipped when " + p.Path + " was packed", Action: ActionSkipped})
	}
	return r, at == ds.Len()
}

// sameInfo reports whether sample at of ds was packed from the source sample in.
func (p *Plan) sameInfo(ds formats.Dataset, at int, in *formats.Info, split string) (bool, error) {
	if at == ds.Len() {
		return false, nil
	}
	was, err := ds.Info(at)
	return was.Key == in.Key && was.Label == in.Label && was.Split == split &&
		was.Source.Size == in.Source.Size && was.Source.ModTime == in.Source.ModTime, err
}
