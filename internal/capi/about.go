//go:build cgo

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/reader"
)

// clock is reader.Clock in seconds.
type clock struct {
	Read    float64 `json:"read"`
	Decode  float64 `json:"decode"`
	Augment float64 `json:"augment"`
	Collate float64 `json:"collate"`
	Wait    float64 `json:"wait"`
	Images  int64   `json:"images"`
	Bytes   int64   `json:"bytes"`
	Depth   float64 `json:"depth"`
}

func clockOf(l *loader, _ struct{}) (any, error) { return seconds(l.Clock()), nil }

func seconds(c reader.Clock) clock {
	return clock{
		Read: c.Read.Seconds(), Decode: c.Decode.Seconds(), Augment: c.Augment.Seconds(),
		Collate: c.Collate.Seconds(), Wait: c.Wait.Seconds(), Images: c.Images, Bytes: c.Bytes, Depth: c.Depth(),
	}
}

// stats is reader.Stats.
type stats struct {
	Clock    clock            `json:"clock"`
	Bad      bad              `json:"bad"`
	Narrowed reader.Narrowed  `json:"narrowed"`
	Decoded  gpudecode.Counts `json:"decoded"`
}

func statsOf(l *loader, _ struct{}) (any, error) {
	s := l.Stats()
	return stats{seconds(s.Clock), listed(l, s.BadTimes, s.Bad), s.Narrowed, s.Decoded}, nil
}

// narrowed is Loader.Narrowed, and whether batches of uint16 keep what was lost.
type narrowed struct {
	reader.Narrowed
	Kept bool `json:"kept"`
}

func narrowedOf(l *loader, _ struct{}) (any, error) {
	n := l.Narrowed()
	return narrowed{n, codec.KeptDeep(n.How)}, nil
}

// bad is the result of Loader.Bad.
type bad struct {
	Times   int64       `json:"times"`
	Samples []badSample `json:"samples"`
}

type badSample struct {
	Index   int    `json:"index"`
	Key     string `json:"key"`
	Message string `json:"message"`
}

func badOf(l *loader, _ struct{}) (any, error) {
	times, samples := l.Bad()
	return listed(l, times, samples), nil
}

// listed describes bad samples that were met so many times.
func listed(l *loader, times int64, samples []reader.BadSample) bad {
	b := bad{Times: times, Samples: make([]badSample, len(samples))}
	for i, s := range samples {
		b.Samples[i] = badSample{s.Index, keyOf(l, s.Index), s.Err.Error()}
	}
	return b
}

// keyOf returns the key of a sample, "" if it cannot be read.
func keyOf(l *loader, index int) string {
	in, err := l.InfoOf(index)
	if err != nil {
		return ""
	}
	return in.Key
}

// noteBad counts a sample of the split as bad that the library could read and Python could not use.
func noteBad(l *loader, a struct {
	Sample  int    `json:"sample"`
	Message string `json:"message"`
},
) (any, error) {
	return nil, l.ReportBad(a.Sample, errors.New(a.Message))
}

// selection lists samples of the split by index. -1 is padding, whose texts are "".
type selection struct {
	Samples []int `json:"samples"`
}

func keysOf(l *loader, a selection) (any, error) {
	return textsOf(l, a.Samples, func(in formats.Info) string { return in.Key })
}

// sourcesOf returns the paths of the samples' source files, '/'-separated, relative to the folder
// that was packed.
func sourcesOf(l *loader, a selection) (any, error) {
	return textsOf(l, a.Samples, func(in formats.Info) string { return in.Source.Path })
}

// wantedColumns are names of columns, of which null are all, and samples as selection lists them.
type wantedColumns struct {
	selection
	Names []string `json:"names"`
}

// columnsOf returns columns that are no fields, by name: one text for each of the samples.
func columnsOf(l *loader, a wantedColumns) (any, error) {
	have := l.Meta().Columns
	if a.Names == nil {
		a.Names = have
	}
	columns := make(map[string]any, len(a.Names))
	for _, name := range a.Names {
		k := slices.Index(have, name)
		if k < 0 {
			return nil, fmt.Errorf("%w: there is no column %q, there are %q", errValue, name, have)
		}
		texts, err := textsOf(l, a.Samples, func(in formats.Info) string {
			if k < len(in.Columns) {
				return in.Columns[k]
			}
			return ""
		})
		if err != nil {
			return nil, err
		}
		columns[name] = texts
	}
	return columns, nil
}

func textsOf(l *loader, samples []int, text func(formats.Info) string) (any, error) {
	texts := make([]string, len(samples))
	for k, i := range samples {
		if i < 0 {
			continue
		}
		in, err := l.InfoOf(i)
		if err != nil {
			return nil, err
		}
		texts[k] = text(in)
	}
	return texts, nil
}

// stateOf returns the state of an epoch at a position, which a training resumes from.
func stateOf(l *loader, a struct {
	Epoch    int `json:"epoch"`
	Position int `json:"position"`
},
) (any, error) {
	return l.StateAt(a.Epoch, a.Position), nil
}

// checkState reports a state of another order than the loader's.
func checkState(l *loader, s reader.State) (any, error) {
	if s.Order == "" { // Python's states have one
		return nil, fmt.Errorf("resume: %w: it has no order", reader.ErrState)
	}
	if err := l.CheckState(s); err != nil {
		return nil, fmt.Errorf("resume: %w", err)
	}
	return nil, nil
}
