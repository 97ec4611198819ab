package convert

import (
	"context"
	"errors"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/extsort"
)

// An unfinished dataset is finished with the samples that it was begun with, also if its source has got more since then.

// ofListedSamples returns the plan that p was when the unfinished dataset was begun: without the samples of the source that
// its source list does not have. It may have other differences from the list. ok is false if p cannot be planned again.
func (p *Plan) ofListedSamples(ctx context.Context) (q *Plan, ok bool, err error) {
	if p.asked == nil {
		return nil, false, nil
	}
	src := &listedSamples{Dataset: p.asked.src}
	both := extsort.New("", p.o.Memory)
	defer func() { err = errors.Join(err, both.Close()) }()
	if _, err := p.addListed(both); err != nil {
		return nil, false, err
	}
	for i := range src.Dataset.Len() {
		in, err := src.Dataset.Info(i)
		if err != nil {
			return nil, false, err
		}
		if err := addPresent(both, in.Key, i); err != nil {
			return nil, false, err
		}
	}
	err = eachKey(both, func(j *joined) error {
		if j.pos < 0 || j.entry == nil {
			return nil
		}
		return src.at.add(j.pos, src.Dataset.Len())
	})
	if err != nil || src.Len() == 0 {
		return nil, false, err
	}
	q, err = New(ctx, src, p.format, p.Path, p.asked.o)
	return q, err == nil, err
}

// asked is what New was called with.
type asked struct {
	src formats.Dataset
	o   Options
}

// listedSamples has some samples of a source.
type listedSamples struct {
	formats.Dataset
	at indexList
}

var (
	_ labelSummer = (*listedSamples)(nil)
	_ filed       = (*listedSamples)(nil)
	_ warner      = (*listedSamples)(nil)
)

func (d *listedSamples) Len() int { return d.at.n }

func (d *listedSamples) Info(i int) (formats.Info, error) { return d.Dataset.Info(d.at.at(i)) }

func (d *listedSamples) Read(i int, s *formats.Sample) error { return d.Dataset.Read(d.at.at(i), s) }

func (d *listedSamples) LabelSum(i int, in *formats.Info) int64 {
	return labelSum(d.Dataset, d.at.at(i), in)
}

func (d *listedSamples) FieldFile(i, k int) string {
	if of, ok := d.Dataset.(filed); ok {
		return of.FieldFile(d.at.at(i), k)
	}
	return ""
}

func (d *listedSamples) Warning(path string) string {
	if of, ok := d.Dataset.(warner); ok {
		return of.Warning(path)
	}
	return ""
}
