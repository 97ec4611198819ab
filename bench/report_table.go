package bench

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/internal/legible"
)

// nameWidth is the largest width of a dataset's name in a table of 100 columns.
const nameWidth = 32

// unknown is the cell of a figure that was not measured.
const unknown = "-"

func cell(measured bool, figure string) string {
	if !measured {
		return unknown
	}
	return figure
}

// WriteTable writes the report as text: tables of at most 100 columns of the epochs, the stages
// and the results of training loops, and sentences for each dataset. In each table merged
// reports follow.
func (r *Report) WriteTable(w io.Writer) error {
	if len(r.Datasets) == 0 {
		return errors.New("bench.Report.WriteTable: the report has no datasets")
	}
	var b strings.Builder
	b.WriteString(r.setup())
	if r.Options.AugmentText != "" {
		fmt.Fprintf(&b, "\n%s", printable(r.Options.AugmentText))
	}
	b.WriteByte('\n')
	if r.Options.FastDecode {
		b.WriteString("JPEGs decoded fast: pixels are close to Pillow's, not equal\n")
	}
	fmt.Fprintf(&b, "%s\n\n", r.medianOf())
	figures.Table(&b, r.epochs())
	b.WriteString("\nmicroseconds per image, by stage\n")
	figures.Table(&b, r.stages())
	if rows := r.training(); rows != nil {
		b.WriteString("\ntraining loop: seconds per epoch, loss and accuracy\n")
		figures.Table(&b, rows)
	}
	b.WriteByte('\n')
	for _, run := range r.runs() {
		if run != r {
			fmt.Fprintf(&b, "%s\n", run.setup())
		}
		run.sentences(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// setup describes the consumer, the machine and the batches, as far as known, and the file
// that the report was read from.
func (r *Report) setup() string {
	o := &r.Options
	parts := []string{printable(r.Consumer)}
	if r.Source != "" {
		parts[0] = printable(r.Source) + ": " + parts[0]
	}
	if o.Workers > 0 {
		parts = append(parts, fmt.Sprintf("%d workers on %d cores", o.Workers, r.Machine.GOMAXPROCS))
	} else {
		parts = append(parts, fmt.Sprintf("%d cores", r.Machine.GOMAXPROCS))
	}
	if r.Machine.Device != "" {
		parts = append(parts, printable(r.Machine.Device))
	}
	if o.BatchSize > 0 {
		batches := fmt.Sprintf("batches of %d", o.BatchSize)
		for _, s := range []string{string(o.DType), string(o.Layout)} {
			if s != "" {
				batches += ", " + printable(s)
			}
		}
		parts = append(parts, batches)
	}
	return strings.Join(parts, "; ")
}

// medianOf says how many rounds there were.
func (r *Report) medianOf() string {
	if r.Options.Rounds == 0 {
		return "medians of " + figures.Counted(len(r.Datasets[0].Rounds), "epoch")
	}
	return fmt.Sprintf("medians of %s, each of %s a dataset, interleaved",
		figures.Counted(r.Options.Rounds, "round"), figures.Counted(r.Options.Epochs, "epoch"))
}

// rows are the head and a row for each dataset of the runs; a merged run begins with a
// line of its own.
func (r *Report) rows(runs []*Report, head []string, row func(run *Report, d *Dataset) []string) [][]string {
	rows := [][]string{head}
	for _, run := range runs {
		if run != r {
			rows = append(rows, []string{run.setup()})
		}
		for i := range run.Datasets {
			d := &run.Datasets[i]
			rows = append(rows, append([]string{shorten(d.Path)}, row(run, d)...))
		}
	}
	return rows
}

func (r *Report) epochs() [][]string {
	head := []string{"dataset", "epoch s", "images/s", "ratio", "starved", "peak MB", "mapped MB", "on disk MB"}
	return r.rows(r.runs(), head, func(run *Report, d *Dataset) []string {
		return []string{
			figures.Digits(d.EpochSeconds), fmt.Sprintf("%.0f", d.ImagesPerSecond), fmt.Sprintf("%.2f", d.Ratio),
			cell(run.Consumer != loaderAlone, figures.Percent(d.Starved)), // a consumer that does nothing only waits
			cell(d.PeakMemory > 0, megabytes(d.PeakMemory)), cell(d.PeakMemory > 0, megabytes(d.Mapped)), cell(d.Disk > 0, megabytes(d.Disk)),
		}
	})
}

func (r *Report) stages() [][]string {
	head := []string{"dataset", "read", "decode", "augment", "collate", "step", "all CPU"}
	return r.rows(r.runs(), head, func(_ *Report, d *Dataset) []string {
		var row []string
		for _, us := range []float64{d.Stages.Read, d.Stages.Decode, d.Stages.Augment, d.Stages.Collate} {
			row = append(row, cell(d.Stages.workers() != 0, figures.Digits(us)))
		}
		return append(row, figures.Digits(d.Stages.Step), cell(d.CPU > 0, figures.Digits(d.CPU)))
	})
}

// training is the table of training loops; nil if there are none.
func (r *Report) training() [][]string {
	trained := func(d Dataset) bool { return d.Transfer > 0 || d.Accuracy != nil || d.Loss != nil }
	var runs []*Report
	for _, run := range r.runs() {
		if slices.ContainsFunc(run.Datasets, trained) {
			runs = append(runs, run)
		}
	}
	if len(runs) == 0 {
		return nil
	}
	head := []string{"dataset", "wait s", "transfer s", "step s", "loss", "accuracy"}
	return r.rows(runs, head, func(_ *Report, d *Dataset) []string {
		loss, accuracy := unknown, unknown
		if d.Loss != nil {
			loss = fmt.Sprintf("%.4g", *d.Loss)
		}
		if d.Accuracy != nil {
			accuracy = fmt.Sprintf("%.2f %%", 100**d.Accuracy)
		}
		step := func(r *Round) float64 { return ratio(r.Stages.Step, float64(r.Epochs)) }
		return []string{figures.Digits(d.Starved * d.EpochSeconds), cell(d.Transfer > 0, figures.Digits(d.Transfer)), figures.Digits(d.median(step)), loss, accuracy}
	})
}

// settings lists the values by name, without those that nobody gave.
func settings(values map[string]any) string {
	list := make([]string, 0, len(values))
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if values[name] != nil {
			list = append(list, printable(fmt.Sprintf("%s=%v", name, values[name])))
		}
	}
	return strings.Join(list, ", ")
}

// shorten returns the text of a cell for a path: quoted if it is not printable, and only the end
// of a long one.
func shorten(name string) string {
	name = printable(name)
	r := []rune(name)
	if len(r) <= nameWidth {
		return name
	}
	return "..." + string(r[len(r)-nameWidth+3:])
}

func printable(name string) string { return legible.Name(name) }

func megabytes(n int64) string { return figures.Digits(float64(n) / 1e6) }

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
