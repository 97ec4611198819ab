package convert

import (
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// Finished returns a report on the dataset at the plan's path if an earlier run of the same plan
// has written it; ok is false if there is no dataset or another one. A command with several plans
// uses it to skip those that are finished.
func (p *Plan) Finished() (r *Report, ok bool) {
	if p.src == nil {
		return nil, false
	}
	ds, err := p.format.Open(p.Path)
	if err != nil {
		return nil, false
	}
	defer ds.Close()
	m := ds.Meta()
	if recipeDiff(m.Recipe, p.Meta.Recipe) != "" || !sameSchema(m.Schema, p.Meta.Schema) {
		return nil, false
	}
	r = &Report{Path: p.Path, Shards: p.Shards, Found: p.Len(), Resumed: p.Len(), Results: Results{Written: ds.Len()}}
	order := slices.Sorted(slices.Values(p.order))
	at := 0
	for _, i := range order {
		in, err := p.src.Info(int(i))
		if err != nil {
			return nil, false
		}
		same, err := p.sameInfo(ds, at, &in, p.splits[i])
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
