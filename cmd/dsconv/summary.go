package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/legible"
)

// summary is what a pack did, over all datasets that it wrote.
type summary struct {
	Found   int            `json:"found"`
	Written int            `json:"written"`
	Failed  int            `json:"failed"`
	Skipped []convert.Skip `json:"skipped"`
	Ignored int            `json:"ignored,omitempty"` // files that are no images by their name
	Renamed []string       `json:"keep_extension,omitempty"`
	// Labels tells what was made of the label columns of a table.
	Labels   []folder.LabelColumn `json:"labels,omitempty"`
	Report   string               `json:"report,omitempty"`
	Datasets []*convert.Report    `json:"datasets"`
	// Unmatched are the patterns of --include and --exclude that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// Untaken is a table that unpack wrote, if it is in the folder and --labels does not name it.
	Untaken string         `json:"untaken,omitempty"`
	listed  []convert.Skip // that listing the folder skipped
}

// newSummary begins the summary of a command that takes of src what fits the patterns.
func newSummary(src formats.Dataset, take formats.Patterns) (s *summary, err error) {
	s = &summary{Skipped: []convert.Skip{}}
	if f, ok := src.(*folder.Dataset); ok {
		for _, k := range f.Skips() {
			s.listed = append(s.listed, convert.Skip{Path: k.Path, Cause: k.Cause, Action: convert.ActionSkipped})
		}
		s.Skipped = append(s.Skipped, s.listed...)
		s.Found, s.Ignored, s.Renamed = len(f.Skips()), f.Ignored(), f.KeepExtension()
		s.Labels, s.Untaken = f.LabelColumns(), f.Untaken()
	}
	s.Unmatched, err = unmatched(src, take)
	return s, err
}

func (s *summary) add(r *convert.Report) {
	s.Found += r.Found
	s.Written += r.Written
	s.Failed += r.Failed
	s.Skipped = append(s.Skipped, r.Skipped...)
	s.Datasets = append(s.Datasets, r)
}

// table lists every input that was not simply written.
func (s *summary) table() []convert.Skip {
	rows := slices.Clone(s.listed)
	for _, r := range s.Datasets {
		rows = append(rows, r.Table()...)
	}
	return rows
}

// writeKnown writes the table of a pack that failed or was interrupted, as far as it came;
// one that did nothing leaves an earlier table alone.
func (s *summary) writeKnown(file, dst string) error {
	if s.Written == 0 && len(s.Skipped) == len(s.listed) && !slices.ContainsFunc(s.Datasets, func(r *convert.Report) bool { return r.Failure != nil }) {
		return nil
	}
	return s.writeTable(file, dst)
}

// tablePath is file, or a name beside DST.
func tablePath(file, dst string) string {
	if file != "" {
		return file
	}
	return strings.TrimRight(dst, "/") + ".report.csv"
}

// checkTable refuses to begin where the name that dsconv itself would give the table is that of
// somebody else's file.
func checkTable(file, dst string) error {
	name := tablePath(file, dst)
	if err := durable.Check(name); err != nil {
		return err
	}
	if st, err := os.Stat(name); file != "" || err != nil || !st.Mode().IsRegular() {
		return nil // writing it reports what is wrong
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	const header = "path,cause"
	head := make([]byte, len(header))
	if n, _ := io.ReadFull(f, head); n > 0 && string(head) != header {
		return fmt.Errorf("%s: %w: the table of skipped images would replace it; move it away, or give the table another name with --report",
			name, formats.ErrForeign)
	}
	return nil
}

// writeTable writes the table to file, or beside DST.
func (s *summary) writeTable(file, dst string) error {
	file = tablePath(file, dst)
	if err := convert.WriteTable(file, s.table()); err != nil {
		return err
	}
	s.Report = file
	return nil
}

func (s *summary) print(c *console, o *packOptions) error {
	if o.json {
		return c.json(s)
	}
	if o.quiet {
		return nil
	}
	c.printf("found %d = written %d + skipped %d + failed %d\n", s.Found, s.Written, len(s.Skipped), s.Failed)
	printLabels(c, s.Labels, "")
	for _, r := range s.Datasets {
		printReport(c, r)
	}
	s.printOdd(c)
	return nil
}

// printLabels tells what was made of the label columns.
func printLabels(c *console, columns []folder.LabelColumn, indent string) {
	for _, column := range columns {
		c.printf("%s%s\n", indent, printable(column.Said))
	}
}

func printReport(c *console, r *convert.Report) {
	c.printf("%s: %d images, %s in, %s out, %d file(s), %.1f s, %.0f images/s\n", printable(r.Path), r.Written, bytesOf(r.BytesIn),
		bytesOf(r.BytesOut), r.Shards, r.Seconds, float64(r.Written-r.Resumed)/max(r.Seconds, 1e-9))
	st := r.Stages
	c.printf("  where the time went: read %.1f s, process %.1f s (over all goroutines), write and sync %.1f s, the writer waited %.1f s\n",
		st.Read, st.Process, st.Write, st.Waited)
	if r.Resumed > 0 {
		c.printf("  %d images were done before\n", r.Resumed)
	}
	if r.Oriented > 0 {
		c.printf("  %d images have an EXIF orientation that asks for a rotation (see --exif)\n", r.Oriented)
	}
	printTiled(c, r)
	printNarrowed(c, r)
	if r.Varying {
		c.printf("  the raw images differ in shape; --resize cover:WxH makes them equal, so that a batch is read in one piece\n")
	}
	for i, w := range r.Warnings {
		if i == 10 {
			c.printf("  ... and %d more warnings (--json lists them all)\n", len(r.Warnings)-i)
			break
		}
		c.printf("  written, but odd: %s: %s\n", printable(w.Path), legible.Line(w.Cause))
	}
}

// printTiled says how many images were tiled, and why the others were not, most frequent
// first.
func printTiled(c *console, r *convert.Report) {
	reasons := slices.Sorted(maps.Keys(r.Untiled))
	slices.SortStableFunc(reasons, func(a, b string) int { return r.Untiled[b] - r.Untiled[a] })
	kept := 0
	for i, why := range reasons {
		kept += r.Untiled[why]
		reasons[i] = fmt.Sprintf("%d %s", r.Untiled[why], why)
	}
	switch {
	case kept > 0:
		c.printf("  tiled %d of %d; %d kept as they are: %s\n", r.Tiled, r.Tiled+kept, kept, strings.Join(reasons, ", "))
	case r.Tiled > 0:
		c.printf("  tiled %d of %d\n", r.Tiled, r.Tiled)
	}
}

// printNarrowed says how many images lost bits, and how.
func printNarrowed(c *console, r *convert.Report) {
	counts := map[string]int{}
	for _, w := range r.Narrowed {
		counts[w.Cause]++
	}
	for _, how := range slices.Sorted(maps.Keys(counts)) {
		c.printf("  %d images: %s; --color keep, with --encode png or raw, keeps all 16 bits\n", counts[how], how)
	}
}

// printUntaken names a table in the source that was not asked for.
func printUntaken(c *console, file string) {
	if file != "" {
		c.printf("%s says what labels, splits and columns the images have, and was not used: --labels %s uses it\n", printable(file), printable(file))
	}
}

func (s *summary) printOdd(c *console) {
	printUnmatched(c, s.Unmatched)
	printUntaken(c, s.Untaken)
	if s.Ignored > 0 {
		c.printf("%d other files are no images and were not looked at\n", s.Ignored)
	}
	if len(s.Renamed) > 0 {
		c.printf("%d images share a stem, so their keys keep the extension, such as %s\n", len(s.Renamed), printable(s.Renamed[0]))
	}
	for i, k := range s.Skipped {
		if i == 10 {
			c.printf("  ... and %d more\n", len(s.Skipped)-i)
			break
		}
		c.printf("  %s %s: %s\n", k.Action, printable(k.Path), legible.Line(k.Cause))
	}
	if s.Report != "" && len(s.table()) > 0 {
		c.printf("the table of what was skipped or odd: %s\n", printable(s.Report))
	}
}
