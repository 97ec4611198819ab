package formats

import (
	"fmt"
	"sort"
)

// Find returns the index of the sample with the key, by binary search; ErrKey if there is
// none.
func Find(ds Dataset, key string) (int, error) {
	var failed error
	i := sort.Search(ds.Len(), func(i int) bool {
		in, err := ds.Info(i)
		if err != nil {
			failed = err
		}
		return in.Key >= key
	})
	if failed != nil {
		return 0, failed
	}
	if i < ds.Len() {
		if in, err := ds.Info(i); err != nil || in.Key == key {
			return i, err
		}
	}
	return 0, fmt.Errorf("%w: there is no sample with the key %q", ErrKey, key)
}
