package bench

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// nameWidth is the most that a dataset's name takes in a table of 100 columns.
const nameWidth = 32

// WriteTable writes the report as text of at most 100 columns, but for the sentences: the
// epochs, the stages, and a sentence for each dataset.
func (r *Report) WriteTable(w io.Writer) error {
	var b strings.Builder
	o := &r.Options
	fmt.Fprintf(&b, "%s; %d workers on %d cores; batches of %d, %s, %s\n%s\n", r.Consumer, o.Workers, r.Machine.GOMAXPROCS,
		o.Batch, o.DType, o.Layout, o.Augment)
	if o.FastDecode {
		b.WriteString("JPEGs decoded fast: near Pillow's pixels and no more\n")
	}
	fmt.Fprintf(&b, "medians of %d rounds, each of %d epoch(s) a dataset, interleaved\n\n", o.Rounds, o.Epochs)
	r.epochs(&b)
	b.WriteString("\nmicroseconds an image, by what they were spent on\n")
	r.stages(&b)
	b.WriteByte('\n')
	for i := range r.Datasets {
		d := &r.Datasets[i]
		fmt.Fprintf(&b, "%s: %s\n", printable(d.Path), d.Diagnosis)
		if d.Mixing != nil {
			fmt.Fprintf(&b, "%s: order %s: %s\n", printable(d.Path), o.Order, d.Mixing)
		}
		if d.Bad > 0 {
			fmt.Fprintf(&b, "%s: bad samples were met %d times\n", printable(d.Path), d.Bad)
		}
	}
	for _, note := range r.Notes {
		fmt.Fprintf(&b, "note: %s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) epochs(b *strings.Builder) {
	rows := [][]string{{"dataset", "epoch s", "images/s", "ratio", "starved", "peak MB", "mapped MB", "on disk MB"}}
	for i := range r.Datasets {
		d := &r.Datasets[i]
		starved := percent(d.Starved)
		if r.Options.alone() {
			starved = "-" // nothing but waiting is left to a consumer that does nothing
		}
		rows = append(rows, []string{
			shorten(d.Path), decimals(d.EpochSeconds), fmt.Sprintf("%.0f", d.ImagesPerSecond), fmt.Sprintf("%.2f", d.Ratio),
			starved, megabytes(d.PeakMemory), megabytes(d.Mapped), megabytes(d.Disk),
		})
	}
	align(b, rows)
}

func (r *Report) stages(b *strings.Builder) {
	rows := [][]string{{"dataset", "read", "decode", "augment", "collate", "step", "all CPU"}}
	for i := range r.Datasets {
		d := &r.Datasets[i]
		row := []string{shorten(d.Path)}
		for _, us := range []float64{d.Stages.Read, d.Stages.Decode, d.Stages.Augment, d.Stages.Collate, d.Stages.Step, d.CPU} {
			row = append(row, decimals(us))
		}
		rows = append(rows, row)
	}
	align(b, rows)
}

// align writes the rows with the first column to the left and the others to the right.
func align(b *strings.Builder, rows [][]string) {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		fmt.Fprintf(b, "%-*s", width[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(b, "  %*s", width[i+1], cell)
		}
		b.WriteByte('\n')
	}
}

// shorten makes a path fit for a cell: quoted if it is not printable, and of a long one
// the end.
func shorten(name string) string {
	name = printable(name)
	r := []rune(name)
	if len(r) <= nameWidth {
		return name
	}
	return "..." + string(r[len(r)-nameWidth+3:])
}

func printable(name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(name)
	}
	return name
}

// decimals is x with about three digits.
func decimals(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

func megabytes(n int64) string { return decimals(float64(n) / 1e6) }
