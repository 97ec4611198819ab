package bench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/internal/figures"
)

// differences writes what differential runs found: rungs, sweeps and rules, if there are any.
func (r *Report) differences(b *strings.Builder) {
	r.rungs(b)
	for _, run := range r.runs() {
		for i := range run.Sweeps {
			run.Sweeps[i].write(b)
		}
		for _, rule := range run.Rules {
			fmt.Fprintf(b, "\n%s: %s: %s", printable(rule.Dataset), printable(rule.Name), printable(rule.Text))
		}
		if len(run.Rules) > 0 {
			b.WriteByte('\n')
		}
	}
}

// rungMeanings say what is left of the work on each rung.
var rungMeanings = map[string]string{
	storedCold: "from the disk, nothing cached", stored: "from the page cache", bytesInMemory: "files in memory: nothing is read",
	pixelsInMemory: "pixels in memory: nothing is decoded", batchesInMemory: "batches in memory: the loop alone",
	withoutTransfer: "the same without transfer", decodeOnly: "decoding alone", augmentOnly: "augmenting and collating alone",
}

// rungs writes a table with a row for each rung of each dataset.
func (r *Report) rungs(b *strings.Builder) {
	rows := [][]string{{"rung", "epoch s", "images/s", "saved s"}}
	var notes []string
	for _, run := range r.runs() {
		for i := range run.Datasets {
			d := &run.Datasets[i]
			if len(d.Rungs) == 0 {
				continue
			}
			rows = append(rows, []string{printable(d.Path)})
			for _, g := range d.Rungs {
				name := printable(g.Name)
				if meaning := rungMeanings[g.Name]; meaning != "" {
					name += " (" + meaning + ")"
				}
				measured := g.EpochSeconds > 1e-5 // less is a loop that does nothing
				rows = append(rows, []string{
					name, cell(measured, figures.Digits(g.EpochSeconds)), cell(measured, fmt.Sprintf("%.0f", g.ImagesPerSecond)),
					cell(g.Saved != 0, signed(g.Saved)),
				})
				if note := fmt.Sprintf("%s: %s", printable(g.Name), printable(g.Note)); g.Note != "" && !slices.Contains(notes, note) {
					notes = append(notes, note)
				}
			}
		}
	}
	if len(rows) == 1 {
		return
	}
	b.WriteString("\none more stage replaced by memory in each row; saved: beside the row above\n")
	align(b, rows)
	for _, note := range notes {
		fmt.Fprintf(b, "%s\n", note)
	}
	if r.noisy() {
		b.WriteString("a row takes longer than the one above it, although it does less: times differ that much here (is the machine busy?)\n")
	}
}

// noisy reports whether an epoch with less work took clearly longer.
func (r *Report) noisy() bool {
	for _, run := range r.runs() {
		for i := range run.Datasets {
			for _, g := range run.Datasets[i].Rungs {
				if g.Saved < -ruleGain*g.EpochSeconds {
					return true
				}
			}
		}
	}
	return false
}

// signed is decimals of a number that may be negative.
func signed(x float64) string {
	if x < 0 {
		return "-" + figures.Digits(-x)
	}
	return figures.Digits(x)
}

// write writes a table of the sweep's values.
func (w *Sweep) write(b *strings.Builder) {
	fmt.Fprintf(b, "\n%s: %s\n", printable(w.Dataset), printable(w.Setting))
	rows := [][]string{{w.Setting, "epoch s", "images/s", "estimated MB", "peak MB"}}
	for _, p := range w.Points {
		rows = append(rows, []string{
			fmt.Sprintf("%g", p.Value), figures.Digits(p.EpochSeconds), fmt.Sprintf("%.0f", p.ImagesPerSecond),
			cell(p.MemoryEstimate > 0, megabytes(p.MemoryEstimate)), cell(p.PeakMemory > 0, megabytes(p.PeakMemory)),
		})
	}
	align(b, rows)
	fmt.Fprintf(b, "%s=%g is the smallest within 5 %% of the fastest\n", printable(w.Setting), w.Knee)
}
