package main

import (
	"context"
	"errors"
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

// summary is the result of a pack, over all datasets that it wrote.
type summary struct {
	Found   int               `json:"found"`
	Written int               `json:"written"`
	Failed  int               `json:"failed"`
	Skipped []convert.Problem `json:"skipped"`
	Ignored int               `json:"ignored,omitempty"` // files whose names are not those of images
	Renamed []string          `json:"keep_extension,omitempty"`
	// Labels describes how the label columns of a table were interpreted.
	Labels   []folder.LabelColumn `json:"labels,omitempty"`
	Report   string               `json:"report,omitempty"`
	Datasets []*convert.Report    `json:"datasets"`
	// Unmatched are the patterns of --include and --exclude that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// UnusedTable is a table of unpack that is in the folder but was not given by --labels.
	UnusedTable      string            `json:"untaken,omitempty"`
	skippedByListing []convert.Problem // skipped when the folder was listed
}

// newSummary returns the summary of a command before it reads images. It packs what the patterns
// select from src.
func newSummary(src formats.Dataset, patterns formats.Patterns) (s *summary, err error) {
	s = &summary{Skipped: []convert.Problem{}}
	if f, ok := src.(*folder.Dataset); ok {
		for _, k := range f.Skips() {
			s.skippedByListing = append(s.skippedByListing, convert.Problem{Path: k.Path, Cause: k.Cause, Action: convert.ActionSkipped})
		}
		s.Skipped = append(s.Skipped, s.skippedByListing...)
		s.Found, s.Ignored, s.Renamed = len(f.Skips()), f.Ignored(), f.KeepExtension()
		s.Labels, s.UnusedTable = f.LabelColumns(), f.UnusedDescription()
	}
	s.Unmatched, err = findUnmatched(src, patterns)
	return s, err
}

func (s *summary) add(r *convert.Report) {
	s.Found += r.Found
	s.Written += r.Written
	s.Failed += r.Failed
	s.Skipped = append(s.Skipped, r.Skipped...)
	s.Datasets = append(s.Datasets, r)
}

// run runs the plans that have no report in done, and writes the report of bad inputs, by default beside
// dst.
func (s *summary) run(ctx context.Context, c *console, dst string, plans []*convert.Plan, done []*convert.Report, o *writeOptions) error {
	if err := checkReportPath(o.report, dst); err != nil {
		return err
	}
	for i, p := range plans {
		r, err := done[i], error(nil)
		if r == nil {
			r, err = runPlan(ctx, p, o)
		}
		s.add(r)
		if err != nil {
			return errors.Join(err, s.writePartialTable(o.report, dst))
		}
	}
	return s.writeTable(o.report, dst)
}

// table returns the rows of the report: skipped and failed inputs and warnings.
func (s *summary) table() []convert.Problem {
	rows := slices.Clone(s.skippedByListing)
	for _, r := range s.Datasets {
		rows = append(rows, r.Table()...)
	}
	return rows
}

// writePartialTable writes the report of a pack that failed or was interrupted. If the pack did
// nothing, an earlier report is not replaced.
func (s *summary) writePartialTable(file, dst string) error {
	if s.Written == 0 && len(s.Skipped) == len(s.skippedByListing) && !slices.ContainsFunc(s.Datasets, func(r *convert.Report) bool { return r.Failure != nil }) {
		return nil
	}
	return s.writeTable(file, dst)
}

// reportPath returns file, or the default path beside DST.
func reportPath(file, dst string) string {
	if file != "" {
		return file
	}
	return strings.TrimRight(dst, "/") + ".report.csv"
}

// checkReportPath returns an error if the report's default path is that of a file that dsconv did not
// write.
func checkReportPath(file, dst string) error {
	name := reportPath(file, dst)
	if err := durable.Check(name); err != nil {
		return err
	}
	if st, err := os.Stat(name); file != "" || err != nil || !st.Mode().IsRegular() {
		return nil // writing it returns the error
	}
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	const header = "path,cause"
	head := make([]byte, len(header))
	if n, _ := io.ReadFull(f, head); n > 0 && string(head) != header {
		return fmt.Errorf("%s: %w: the report of skipped images would replace it; move it away, or use another name with --report",
			name, formats.ErrForeign)
	}
	return nil
}

// writeTable writes the report to file, or beside DST.
func (s *summary) writeTable(file, dst string) error {
	file = reportPath(file, dst)
	if err := convert.WriteTable(file, s.table()); err != nil {
		return err
	}
	s.Report = file
	return nil
}

func (s *summary) print(c *console, o *writeOptions) error {
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
	s.printNotices(c)
	return nil
}

// printLabels prints how the label columns were interpreted.
func printLabels(c *console, columns []folder.LabelColumn, indent string) {
	for _, column := range columns {
		c.printf("%s%s\n", indent, printable(column.Summary))
	}
}

func printReport(c *console, r *convert.Report) {
	c.printf("%s: %d images, %s in, %s out, %d file(s), %.1f s, %.0f images/s\n", printable(r.Path), r.Written, formatBytes(r.BytesIn),
		formatBytes(r.BytesOut), r.Shards, r.Seconds, float64(r.Written-r.Resumed)/max(r.Seconds, 1e-9))
	st := r.Stages
	c.printf("  time: read %.1f s, process %.1f s (summed over goroutines), write and sync %.1f s, writer waited %.1f s\n",
		st.Read, st.Process, st.Write, st.Waited)
	if r.Resumed > 0 {
		c.printf("  resumed: %d images were done before\n", r.Resumed)
	}
	if r.Oriented > 0 {
		c.printf("  %d images have an EXIF orientation that rotates or flips them (see --exif)\n", r.Oriented)
	}
	printTiled(c, r)
	printNarrowed(c, r)
	if r.Varying {
		c.printf("  the raw images have different shapes; --resize cover:WxH gives all images the same shape, so that a batch is read in one step\n")
	}
	printFirst(c, r.Warnings, 10, " warnings (--json lists them all)", func(w convert.Problem) string {
		return "  warning: " + printable(w.Path) + ": " + legible.Line(w.Cause)
	})
}

// printTiled prints how many images were tiled, and why the others were not, most frequent cause
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
		c.printf("  tiled %d of %d; %d copied: %s\n", r.Tiled, r.Tiled+kept, kept, strings.Join(reasons, ", "))
	case r.Tiled > 0:
		c.printf("  tiled %d of %d\n", r.Tiled, r.Tiled)
	}
}

// printNarrowed prints how many images lost bits, and how.
func printNarrowed(c *console, r *convert.Report) {
	counts := map[string]int{}
	for _, w := range r.Narrowed {
		counts[w.Cause]++
	}
	for _, how := range slices.Sorted(maps.Keys(counts)) {
		c.printf("  %d images: %s; --color keep with --encode png or raw keeps all 16 bits\n", counts[how], how)
	}
}

// printUnusedTable prints a table in the source that was not used.
func printUnusedTable(c *console, file string) {
	if file != "" {
		c.printf("%s has the labels, splits and columns of the images but was not used: use it with --labels %s\n", printable(file), printable(file))
	}
}

// printNotices prints what the user may have overlooked, and the skipped images.
func (s *summary) printNotices(c *console) {
	printUnmatched(c, s.Unmatched)
	printUnusedTable(c, s.UnusedTable)
	if s.Ignored > 0 {
		c.printf("%d other files are not images and were ignored\n", s.Ignored)
	}
	if len(s.Renamed) > 0 {
		c.printf("%d images have the same name but for the extension, so their keys keep it, such as %s\n", len(s.Renamed), printable(s.Renamed[0]))
	}
	printFirst(c, s.Skipped, 10, "", func(k convert.Problem) string {
		return "  " + string(k.Action) + " " + printable(k.Path) + ": " + legible.Line(k.Cause)
	})
	if s.Report != "" && len(s.table()) > 0 {
		c.printf("report of skipped images and warnings: %s\n", printable(s.Report))
	}
}
