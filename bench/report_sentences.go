package bench

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/figures"
)

// sentences writes each dataset's diagnosis with its evidence, remarks, the recommendation and notes.
func (r *Report) sentences(b *strings.Builder) {
	for i := range r.Datasets {
		d := &r.Datasets[i]
		name := printable(d.Path)
		if d.Diagnosis != "" {
			fmt.Fprintf(b, "%s: %s\n", name, printable(d.Diagnosis))
		}
		if d.Verdict != nil {
			for _, line := range d.Verdict.Evidence {
				fmt.Fprintf(b, "    %s\n", printable(line))
			}
		}
		if len(d.Settings) > 0 {
			fmt.Fprintf(b, "%s: with %s\n", name, settings(d.Settings))
		}
		if d.Narrowed > 0 {
			fmt.Fprintf(b, "%s: %s\n", name, printable(d.NarrowedHow))
		}
		if d.Bad > 0 {
			fmt.Fprintf(b, "%s: %d reads of bad samples\n", name, d.Bad)
		}
	}
	r.advice(b)
	for _, note := range r.Notes {
		fmt.Fprintf(b, "note: %s\n", printable(note))
	}
}

// advice writes the recommendation, and the candidates from which it was chosen.
func (r *Report) advice(b *strings.Builder) {
	if r.Advice == nil || r.Advice.Text == "" {
		return
	}
	fmt.Fprintf(b, "advice: %s\n", printable(r.Advice.Text))
	if len(r.Advice.Candidates) < 2 {
		return
	}
	for i := range r.Advice.Candidates {
		c := &r.Advice.Candidates[i]
		fmt.Fprintf(b, "    %s: %s\n", printable(c.Command), candidateFigures(c))
	}
}

// candidateFigures are what a candidate brings and costs.
func candidateFigures(c *verdict.Candidate) string {
	list := []string{cell(c.After > 0, figures.Digits(c.Before)+" s -> "+figures.Digits(c.After)+" s")}
	if c.Disk > 0 {
		list = append(list, megabytes(c.Disk)+" MB on disk")
	}
	if c.PackSeconds > 0 {
		list = append(list, figures.Digits(c.PackSeconds)+" s to pack")
	}
	if c.Lossless {
		list = append(list, "lossless")
	} else {
		list = append(list, "changes pixels")
	}
	return strings.Join(list, ", ")
}
