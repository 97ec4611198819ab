package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"text/tabwriter"

	"github.com/dsconv/dsconv/internal/durable"
)

// measured is a case with its turns, in the order of the rounds.
type measured struct {
	Name string `json:"name"`
	Base []turn `json:"base"`
	Head []turn `json:"head"`
	// Ratio is the median of the rounds' ratios, base's time divided by head's: above 1 head is
	// faster. A quarter of the ratios are below Low, a quarter above High.
	Ratio float64 `json:"ratio"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	// CPU is the median of the ratios of CPU time.
	CPU float64 `json:"cpu_ratio"`
}

// report is the content of the JSON file.
type report struct {
	Settings settings    `json:"settings"`
	Cases    []*measured `json:"cases"`
}

// compare runs both sides in turns. The first round is not counted.
func compare(ctx context.Context, c namedCase, s *settings) (*measured, error) {
	m := &measured{Name: c.name}
	for round := range s.Rounds + 1 {
		var took [2]turn
		for k := range 2 {
			i := (round + k) % 2 // which side is first alternates
			by := [2]side{s.base, s.head}[i]
			var err error
			if took[i], err = c.work(ctx, by); err != nil {
				return nil, fmt.Errorf("%s: %w", by.name, err)
			}
		}
		if round > 0 {
			m.Base, m.Head = append(m.Base, took[0]), append(m.Head, took[1])
		}
	}
	m.summarise()
	return m, nil
}

// summarise fills in the ratios.
func (m *measured) summarise() {
	ratios := func(f func(t turn) float64) []float64 {
		list := make([]float64, len(m.Base))
		for i := range list {
			list[i] = f(m.Base[i]) / f(m.Head[i])
		}
		slices.Sort(list)
		return list
	}
	wall := ratios(func(t turn) float64 { return t.Seconds })
	m.Low, m.Ratio, m.High = quantile(wall, 0.25), quantile(wall, 0.5), quantile(wall, 0.75)
	m.CPU = quantile(ratios(func(t turn) float64 { return t.CPUSeconds }), 0.5)
}

// quantile is the value below which the share q of the sorted values is.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := min(int(at), len(sorted)-1)
	next := min(i+1, len(sorted)-1)
	return sorted[i] + (at-float64(i))*(sorted[next]-sorted[i])
}

func (m *measured) line() string {
	return fmt.Sprintf("%s\t%.3f\t%.3f to %.3f\t%.3f", m.Name, m.Ratio, m.Low, m.High, m.CPU)
}

func (r *report) print(w io.Writer) {
	fmt.Fprintf(w, "\nhead %s beside base %s: medians of %d rounds, above 1 head is faster\n\n", r.Settings.Head, r.Settings.Base, r.Settings.Rounds)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "case\tratio\tmiddle half\tCPU")
	for _, m := range r.Cases {
		fmt.Fprintln(t, m.line())
	}
	t.Flush()
}

// write writes the report to file, if it is not "".
func (r *report) write(file string) error {
	if file == "" {
		return nil
	}
	kept := *r
	if kept.Settings.Images != "" {
		kept.Settings.Images = filepath.Base(kept.Settings.Images) // where it is says nothing to others
	}
	return durable.WriteJSON(file, &kept)
}
