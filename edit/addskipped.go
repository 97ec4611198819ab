package edit

import (
	"cmp"
	"slices"

	"github.com/dsconv/dsconv/convert"
)

// countSkipped takes the samples that the run skipped, or kept as they were, out of the new and the changed ones.
func (a *adder) countSkipped(run *convert.Report) error {
	skipped, kept := pathsOf(run.Skipped), pathsOf(run.Kept)
	if len(skipped)+len(kept) == 0 {
		return nil
	}
	for _, at := range a.version.added {
		in, err := a.union.Info(int(at))
		if err != nil {
			return err
		}
		if skipped[cmp.Or(in.Source.Path, in.Key)] {
			a.found.New--
		}
	}
	for at := range a.union.old {
		in, err := a.union.Info(at)
		if err != nil {
			return err
		}
		if kept[cmp.Or(in.Source.Path, in.Key)] {
			a.found.Changed--
			a.found.KeptOld = append(a.found.KeptOld, in.Key)
		}
	}
	slices.Sort(a.found.KeptOld)
	return nil
}

func pathsOf(list []convert.Problem) map[string]bool {
	paths := make(map[string]bool, len(list))
	for _, one := range list {
		paths[one.Path] = true
	}
	return paths
}
