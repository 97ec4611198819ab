package reader

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// indexed is a packed dataset, whose index has the labels and splits of all samples in mapped memory. Whoever
// uses that holds a Lease, and checks it by package guard.
type indexed interface {
	// Labels are the designated labels: little-endian int64, that of sample i at data[i*stride:].
	Labels() (data []byte, stride int, err error)
	// Members are the indices of the samples of a split, ascending. all is true if they are all samples;
	// ok is false if the index has no such lists.
	Members(split string) (indices []int32, all, ok bool, err error)
}

// selectSamples returns the samples of the splits for which keep is true, in key order. No splits means all
// samples, and so does a nil keep.
func selectSamples(ds formats.Dataset, splits []string, keep func(formats.Info) bool) (subset, error) {
	if len(splits) <= 1 {
		return selectSplit(ds, strings.Join(splits, ""), keep)
	}
	var parts []subset
	for _, split := range splits {
		s, err := selectSplit(ds, split, keep)
		if err != nil {
			return s, err
		}
		parts = append(parts, s)
	}
	return unionOf(parts...)
}

// selectSplit is selectSamples of one split; "" is all. The error for an unknown split lists the splits.
func selectSplit(ds formats.Dataset, split string, keep func(formats.Info) bool) (s subset, err error) {
	if split == "" && keep == nil {
		return allOf(ds.Len()), nil
	}
	s, ok, err := membersOf(ds, split, keep)
	if !ok && err == nil {
		s, err = filter(ds, split, keep)
	}
	if err == nil && s.Len() == 0 && split != "" {
		err = noneInSplit(ds, split)
	}
	return s, err
}

// membersOf returns the samples of a split if the dataset has a list of them.
func membersOf(ds formats.Dataset, split string, keep func(formats.Info) bool) (s subset, ok bool, err error) {
	x, ok := ds.(indexed)
	if !ok || keep != nil {
		return s, false, nil
	}
	members, all, ok, err := x.Members(split)
	switch {
	case err != nil:
		return s, false, fmt.Errorf("select the samples of the split %q: %w", split, err)
	case all:
		return allOf(ds.Len()), true, nil
	case ok:
		s, err = pickOf(ds.Len(), members)
	}
	return s, ok, err
}

// filter is selectSamples by the Info of all samples.
func filter(ds formats.Dataset, split string, keep func(formats.Info) bool) (subset, error) {
	var failed error
	s, err := selectOf(ds.Len(), func(i int) bool {
		info, err := ds.Info(i)
		if err != nil && failed == nil {
			failed = fmt.Errorf("select samples: sample %d: %w", i, err)
		}
		return err == nil && (split == "" || info.Split == split) && (keep == nil || keep(info))
	})
	return s, cmp.Or(failed, err)
}

// takeSamples reduces the loader's samples to those that Config.Samples lists.
func (l *Loader) takeSamples() (err error) {
	if list := l.config.Samples; list != nil {
		l.ownList = true
		l.samples, err = l.samples.Take(list)
	}
	return err
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
func (l *Loader) planOrder() (err error) {
	c := &l.config
	d := order.Data{Samples: l.samples.Len()}
	var failed error
	switch {
	case c.Weights != nil && len(c.Weights) != d.Samples:
		return fmt.Errorf("%d weights for %d samples: each sample needs one", len(c.Weights), d.Samples)
	case c.Weights != nil:
		d.Weight = func(sample int) float64 { return c.Weights[sample] }
	case c.Weight != nil:
		d.Weight = func(sample int) float64 { return c.Weight(l.infoOf(sample, &failed)) }
	}
	mark, lent := guard.Now(), lentLabels(nil)
	if c.Order.Kind == order.Balanced {
		if l.frame.numbers() {
			return fmt.Errorf("balanced order: the label %q is a number, and the dataset has no classes to balance", l.dataset.Meta().Schema[l.label].Name)
		}
		if d.Label, lent, err = l.labels(&failed); err != nil {
			return fmt.Errorf("balanced order: %w", err)
		}
	}
	err = guard.Do(func() (err error) {
		l.plan, err = order.New(c.Order, d)
		return cmp.Or(failed, err, lent.shortened())
	})
	return cmp.Or(l.samples.Check(mark), lent.since(mark, err))
}

// infoOf is the Info of a sample of the split. It sets failed to its first error.
func (l *Loader) infoOf(sample int, failed *error) formats.Info {
	in, err := l.dataset.Info(l.samples.At(sample))
	if err != nil {
		in.Label, *failed = formats.NoLabel, cmp.Or(*failed, fmt.Errorf("order: sample %d: %w", sample, err))
	}
	return in
}

// checkUniform returns an error for the first sample whose recorded size differs from the first one's.
func checkUniform(ds formats.Dataset, samples subset) error {
	if _, ok := ds.(indexed); ok {
		if s := ds.Meta().Stats; s.MinHeight > 0 && s.MinHeight == s.MaxHeight && s.MinWidth == s.MaxWidth {
			return nil
		}
	}
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
