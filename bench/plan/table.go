package plan

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/internal/legible"
)

// unknown is the cell of a figure that was not measured.
const unknown = "-"

// WriteTable writes the plan as text: what was measured, a table of at most 110 columns with a line for each size and
// encoding, and sentences.
func (p *Plan) WriteTable(w io.Writer) error {
	var b strings.Builder
	s := &p.Source
	fmt.Fprintf(&b, "%s: %d images, %s; measured on %d of them, on %d cores\n",
		legible.Name(s.Path), s.Images, megabytes(s.Bytes), s.Sampled, p.Here.Cores)
	fmt.Fprintf(&b, "%s; batches of %d, %s\n\n", legible.Name(p.Loader.Augment), p.Loader.Batch, p.consumer())
	figures.Table(&b, p.lines())
	b.WriteByte('\n')
	for _, note := range p.sentences() {
		fmt.Fprintf(&b, "%s\n", note)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (p *Plan) consumer() string {
	if rate := p.Loader.Consume; rate > 0 {
		return fmt.Sprintf("a consumer of %g images/s", rate)
	}
	return "loader alone"
}

// lines are the table: a line for the source, and one for each size and encoding.
func (p *Plan) lines() [][]string {
	s := &p.Source
	lines := [][]string{
		{"dsconv pack", "epoch", "images/s", "pixels", "pack", "pays after", p.Options.Format},
		{"(as it is)", seconds(s.EpochSeconds), fmt.Sprintf("%.0f", s.ImagesPerSecond), "same", unknown, unknown, megabytes(s.Bytes)},
	}
	for i := range p.Rows {
		r := &p.Rows[i]
		line := []string{cmp.Or(r.Flags, "(same bytes)"), unknown, unknown, r.pixels(), unknown, unknown, megabytes(r.Disk)}
		if r.Unfit == "" {
			line[1], line[2], line[4] = seconds(r.EpochSeconds), fmt.Sprintf("%.0f", r.ImagesPerSecond), seconds(r.PackSeconds)
			line[5] = "never"
			if r.BreakEven > 0 {
				line[5] = figures.Counted(int(min(math.Ceil(r.BreakEven), math.MaxInt32)), "epoch")
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// pixels says how near the row's pixels are to the source's.
func (r *Row) pixels() string {
	switch {
	case r.Lossless:
		return "same"
	case r.Resize != "":
		return "resized"
	}
	return "near"
}

// sentences are what the table does not say.
func (p *Plan) sentences() (list []string) {
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Unfit != "" {
			list = append(list, fmt.Sprintf("%s: not measured: %s", r.Flags, r.Unfit))
		}
	}
	for _, note := range p.Notes {
		list = append(list, "note: "+note)
	}
	return list
}

func megabytes(n int64) string {
	if n >= 1e10 {
		return fmt.Sprintf("%.3g GB", float64(n)/1e9)
	}
	return fmt.Sprintf("%.3g MB", float64(n)/1e6)
}

// seconds is a time for people to read.
func seconds(s float64) string {
	switch {
	case s >= 7200:
		return fmt.Sprintf("%.1f h", s/3600)
	case s >= 120:
		return fmt.Sprintf("%.1f min", s/60)
	}
	return fmt.Sprintf("%.3g s", s)
}
