package reader

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader/augment"
)

// selection is the samples of a split in order of key.
type selection struct {
	n       int
	indices []int32 // nil if it is the whole dataset
}

// index is where sample s of the selection is in the dataset.
func (s *selection) index(sample int) int {
	if s.indices == nil {
		return sample
	}
	return int(s.indices[sample])
}

// selectSplit finds a split's samples; an unknown one's error lists those there are.
func selectSplit(ds formats.Dataset, split string) (selection, error) {
	if split == "" {
		return selection{n: ds.Len()}, nil
	}
	indices := []int32{}
	for i := range ds.Len() {
		info, err := ds.Info(i)
		if err != nil {
			return selection{}, fmt.Errorf("split %q: sample %d: %w", split, i, err)
		}
		if info.Split == split {
			indices = append(indices, int32(i))
		}
	}
	if len(indices) == 0 {
		var names []string
		for _, s := range ds.Meta().Splits {
			names = append(names, s.Name)
		}
		return selection{}, fmt.Errorf("no sample is in split %q; splits: %s", split, strings.Join(names, ", "))
	}
	return selection{n: len(indices), indices: indices}, nil
}

// checkUniform reports the first sample whose size is known and not the first one's.
func (s *selection) checkUniform(ds formats.Dataset) error {
	var first formats.Info
	for i := range s.n {
		info, err := ds.Info(s.index(i))
		if err != nil {
			return fmt.Errorf("sample %d: %w", s.index(i), err)
		}
		switch {
		case info.Shape[0] == 0:
		case first.Key == "":
			first = info
		case info.Shape[0] != first.Shape[0] || info.Shape[1] != first.Shape[1]:
			return fmt.Errorf("%s is %dx%d, %s is %dx%d: %w", first.Key, first.Shape[1], first.Shape[0],
				info.Key, info.Shape[1], info.Shape[0], augment.ErrSize)
		}
	}
	return nil
}
