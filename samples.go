package dsconv

import (
	"errors"
	"iter"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

// Samples reads the samples of ds one after another, in the order of their keys. A Sample is valid
// until the next step: its memory is used again. Copy what is kept. After an error, which names the
// sample, the next step reads the next sample; formats.ErrClosed ends the loop.
func Samples(ds formats.Dataset) iter.Seq2[*formats.Sample, error] {
	return func(yield func(*formats.Sample, error) bool) {
		var s formats.Sample
		for i := range ds.Len() {
			err := guard.Do(func() error { return ds.Read(i, &s) })
			if err == nil && !yield(&s, nil) || err != nil && (!yield(nil, err) || errors.Is(err, formats.ErrClosed)) {
				return
			}
		}
	}
}
