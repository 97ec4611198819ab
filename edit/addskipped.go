package edit

import (
	"cmp"

	"github.com/dsconv/dsconv/convert"
)

// countSkipped takes the samples that the run skipped out of the new and the changed ones: the dataset has none of them.
func (a *adder) countSkipped(skipped []convert.Problem) error {
	if len(skipped) == 0 {
		return nil
	}
	paths := make(map[string]bool, len(skipped))
	for _, one := range skipped {
		paths[one.Path] = true
	}
	of := func(at int32) (key string, lost bool, err error) {
		if at < 0 || a.union.samples[at].source == 0 {
			return "", false, nil
		}
		in, err := a.union.Info(int(at))
		return in.Key, paths[cmp.Or(in.Source.Path, in.Key)], err
	}
	for _, at := range a.version.added {
		_, lost, err := of(at)
		if err != nil {
			return err
		}
		if lost {
			a.found.New--
		}
	}
	for _, at := range a.version.newIndex {
		key, lost, err := of(at)
		if err != nil {
			return err
		}
		if lost {
			a.found.Changed--
			a.found.Removed = append(a.found.Removed, key)
		}
	}
	return nil
}
