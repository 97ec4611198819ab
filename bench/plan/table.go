package plan

import (
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/dsconv/dsconv/internal/figures"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/misuse"
)

// unknown is the cell of a figure that was not measured.
const unknown = "-"

// WriteTable writes the plan as text: what was measured, a table of at most 110 columns with a line for each size and
// encoding, and sentences.
func (p *Plan) WriteTable(w io.Writer) error {
	if err := misuse.Nil("plan.Plan.WriteTable", "w", w); err != nil {
		return err
	}
	if p == nil || p.Source.Path == "" {
		return errors.New("plan.Plan.WriteTable: the plan is empty: Run makes one")
	}
	var b strings.Builder
	s := &p.Source
	fmt.Fprintf(&b, "%s: %d images, %s; measured on %d of them, on %d cores\n",
		legible.Name(s.Path), s.Images, megabytes(s.Bytes), s.Sampled, p.Here.Cores)
	fmt.Fprintf(&b, "%s; batches of %d, %s\n\n", legible.Name(p.Loader.Augment), p.Loader.Batch, p.consumer())
	align(&b, p.lines())
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
	head := []string{"dsconv pack", "epoch", "images/s", "pixels", "pack", "pays after"}
	head = append(head, p.Options.Formats...)
	lines := [][]string{head}
	s := &p.Source
	source := []string{"(as it is)", seconds(s.EpochSeconds), fmt.Sprintf("%.0f", s.ImagesPerSecond), "same", unknown, unknown}
	lines = append(lines, pad(source, len(head), megabytes(s.Bytes)))
	for _, group := range p.groups() {
		lines = append(lines, p.line(group))
	}
	return lines
}

// groups are the rows of one size and encoding each.
func (p *Plan) groups() (groups [][]Row) {
	for i := 0; i < len(p.Rows); {
		end := i + 1
		for end < len(p.Rows) && p.Rows[end].Flags == p.Rows[i].Flags {
			end++
		}
		groups = append(groups, p.Rows[i:end])
		i = end
	}
	return groups
}

func (p *Plan) line(group []Row) []string {
	r := &group[0]
	name := r.Flags
	if name == "" {
		name = "(same bytes)"
	}
	if r.Unfit != "" {
		return pad([]string{name, unknown, unknown, r.pixels(), unknown, unknown}, 6+len(p.Options.Formats), megabytes(r.Disk))
	}
	pays := "never"
	if r.BreakEven > 0 {
		pays = epochs(r.BreakEven)
	}
	line := []string{name, seconds(r.EpochSeconds), fmt.Sprintf("%.0f", r.ImagesPerSecond), r.pixels(), seconds(r.PackSeconds), pays}
	for i := range group {
		line = append(line, megabytes(group[i].Disk))
	}
	return line
}

// pixels says how near the row's pixels are to the source's.
func (r *Row) pixels() string {
	switch {
	case r.Lossless:
		return "same"
	case r.PSNR > 0:
		return fmt.Sprintf("%.1f dB, SSIM %.3f", r.PSNR, r.SSIM)
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
	return append(list, "dB and SSIM compare with the source's pixels, scaled to the same size")
}

// pad makes a line n cells long, with the text in the first new one.
func pad(line []string, n int, text string) []string {
	for len(line) < n {
		line = append(line, text)
		text = ""
	}
	return line
}

// align writes the lines with the first column to the left and the others to the right.
func align(b *strings.Builder, lines [][]string) {
	width := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, cell := range line {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range lines {
		row := fmt.Sprintf("%-*s", width[0], line[0])
		for i, cell := range line[1:] {
			row += fmt.Sprintf("  %*s", width[i+1], cell)
		}
		b.WriteString(strings.TrimRight(row, " ") + "\n")
	}
}

// epochs is a number of whole epochs, the first that is enough.
func epochs(x float64) string {
	return figures.Counted(int(min(math.Ceil(x), math.MaxInt32)), "epoch")
}

func megabytes(n int64) string {
	if n >= 1e10 {
		return gigabytes(n)
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
