package parity

import (
	"math/rand/v2"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// pair is a sample of the dataset and the same sample in the source.
type pair struct {
	key  string
	dst  int      // index in the dataset
	src  int      // index in the source
	hash [16]byte // of the source's file when it was packed; zero if it cannot be compared
}

// choose gives the indices of the samples that are compared, in order: all if sample is 0.
func choose(n, sample int) []int {
	chosen := rand.New(rand.NewPCG(seed, 0)).Perm(n)
	if sample > 0 {
		chosen = chosen[:min(sample, n)]
	}
	slices.Sort(chosen)
	return chosen
}

// match finds each chosen sample in the source: by path, else by key. missing are the keys of those
// that are not there.
func match(src, dst formats.Dataset, chosen []int) (pairs []pair, missing []string, err error) {
	missing = []string{}
	infos := make([]formats.Info, len(chosen))
	for k, i := range chosen {
		if infos[k], err = dst.Info(i); err != nil {
			return nil, nil, err
		}
	}
	at, err := formats.Locate(src, infos)
	if err != nil {
		return nil, nil, err
	}
	for k, in := range infos {
		if at[k] < 0 {
			missing = append(missing, in.Key)
			continue
		}
		p := pair{key: in.Key, dst: chosen[k], src: at[k]}
		if src.Meta().Format == "folder" {
			p.hash = in.Source.Hash
		}
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		return nil, nil, errUnmatched
	}
	return pairs, missing, nil
}
