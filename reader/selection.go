package reader

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/sampleorder"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// selectSamples returns the samples of a split for which keep is true, or all if keep is nil. The
// error for an unknown split lists the splits.
func selectSamples(ds formats.Dataset, split string, keep func(formats.Info) bool) (sampleorder.Subset, error) {
	if split == "" && keep == nil {
		return sampleorder.All(ds.Len()), nil
	}
	var failed error
	s, err := sampleorder.Select(ds.Len(), func(i int) bool {
		info, err := ds.Info(i)
		if err != nil && failed == nil {
			failed = fmt.Errorf("select samples: sample %d: %w", i, err)
		}
		return err == nil && (split == "" || info.Split == split) && (keep == nil || keep(info))
	})
	switch {
	case failed != nil:
		return s, failed
	case err == nil && s.Len() == 0 && split != "":
		return s, noneInSplit(ds, split)
	}
	return s, err
}

// TrainSplit returns the split to train on if the user names none: train if the dataset has it, else
// "", all samples.
func TrainSplit(m *formats.Meta) string { return FirstSplit(m, "train") }

// FirstSplit returns the first of the names that is a split of the dataset, "" if none is.
func FirstSplit(m *formats.Meta, names ...string) string {
	for _, name := range names {
		if slices.ContainsFunc(m.Splits, func(s formats.Split) bool { return s.Name == name }) {
			return name
		}
	}
	return ""
}

// noneInSplit is the error of a split without samples.
func noneInSplit(ds formats.Dataset, split string) error {
	var names []string
	for _, s := range ds.Meta().Splits {
		names = append(names, s.Name)
	}
	if len(names) == 0 {
		return fmt.Errorf("unknown split %q; the dataset has no splits", split)
	}
	return fmt.Errorf("unknown split %q, or it has no samples; the dataset has the splits %s", split, strings.Join(names, ", "))
}

// planOrder plans the order of the loader's samples.
func (l *Loader) planOrder() error {
	c := &l.config
	d := sampleorder.Data{Samples: l.samples.Len()}
	info := func(sample int) formats.Info {
		in, err := l.dataset.Info(l.samples.At(sample))
		if err != nil {
			return formats.Info{Label: formats.NoLabel} // reading the sample will fail with the error
		}
		return in
	}
	if c.Weight != nil {
		d.Weight = func(sample int) float64 { return c.Weight(info(sample)) }
	}
	if c.Order.Kind == order.Balanced && l.frame.numbers() {
		return fmt.Errorf("balanced order: the label %q is a number, and the dataset has no classes to balance", l.dataset.Meta().Schema[l.label].Name)
	}
	if l.classified() {
		d.Label = func(sample int) int64 { return info(sample).Label }
	}
	plan, err := sampleorder.New(c.Order, d)
	l.plan = plan
	return err
}

// checkUniform returns an error for the first sample whose recorded size differs from the first one's.
func checkUniform(ds formats.Dataset, samples sampleorder.Subset) error {
	var first formats.Info
	for i := range samples.Len() {
		info, err := ds.Info(samples.At(i))
		if err != nil {
			return fmt.Errorf("sample %d: %w", samples.At(i), err)
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
