package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/legible"
)

// summary is the result of a pack, over all datasets that it wrote, as it is printed.
type summary struct{ *dsconv.Report }

// newSummary returns the summary of a command before it reads images. It packs what the patterns
// select from src.
func newSummary(src formats.Dataset, patterns formats.Patterns) (*summary, error) {
	r, err := dsconv.NewReport(src, patterns)
	return &summary{r}, err
}

// counts says what became of the images.
func (s *summary) counts() string {
	text := fmt.Sprintf("found %d = written %d + skipped %d + failed %d", s.Found, s.Written, len(s.Skipped), s.Failed)
	if s.NotReached > 0 {
		text += fmt.Sprintf(", %d not reached", s.NotReached)
	}
	return text
}

// print prints the summary. The error is errSkipped if images were skipped.
func (s *summary) print(c *console, o *writeOptions) error {
	switch {
	case o.json:
		if err := c.json(s); err != nil {
			return err
		}
	case !o.quiet:
		c.printf("%s\n", s.counts())
		s.printSplits(c, o.src)
		printLabels(c, s.Labels, s.LabelNotices, "")
		printFields(c, s.Fields, "")
		for _, r := range s.Datasets {
			printReport(c, r)
		}
		s.printNotices(c)
	}
	if len(s.Skipped) > 0 {
		return errSkipped
	}
	return nil
}

// printSplits prints the splits that were found without being asked for in the source at path.
func (s *summary) printSplits(c *console, path string) {
	list := make([]string, len(s.Splits))
	for i, split := range s.Splits {
		list[i] = fmt.Sprintf("%s (%d)", printable(split.Name), split.Count)
	}
	why := ""
	switch s.SplitsFrom {
	case dsconv.SplitsFromFolders:
		why = "its folders have these names"
	case dsconv.SplitsFromDataset:
		why = "the dataset has them"
	default:
		return // the user asked for them
	}
	c.printf("found splits %s in %s: %s; --split none packs without splits\n", strings.Join(list, ", "), printable(path), why)
}

// printFolders prints the folders that are no classes, where that is not what ImageFolder does.
func (s *summary) printFolders(c *console) {
	depth := 0 // of classes
	if s.SplitsFrom == dsconv.SplitsFromFolders {
		depth = 1
	}
	var classes []string
	for _, f := range s.SystemFolders {
		if strings.Count(f.Path, "/") == depth {
			classes = append(classes, f.Path)
		}
	}
	if len(classes) > 0 {
		what := "classes"
		if len(classes) == 1 {
			what = "a class"
		}
		c.printf("torchvision's ImageFolder takes %s as %s, so its class indices differ\n", shortList(classes, 5), what)
	}
	if len(s.EmptyFolders) > 0 {
		c.printf("%d folder(s) without images are no classes: %s\n", len(s.EmptyFolders), shortList(s.EmptyFolders, 5))
	}
}

// printLabels prints how the label columns were interpreted, and how labels were found.
func printLabels(c *console, columns []folder.LabelColumn, notices []string, indent string) {
	for _, column := range columns {
		c.printf("%s%s\n", indent, printable(column.Summary))
	}
	for _, notice := range notices {
		c.printf("%s%s\n", indent, printable(notice))
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
	if n := len(r.AddedLater); n > 0 {
		c.printf("  %d images were added to the source after this dataset was begun, and are not in it: %s; dsconv add adds them\n", n, shortList(r.AddedLater, 5))
	}
	if r.Oriented > 0 {
		c.printf("  %d images have an EXIF orientation that rotates or flips them (see --exif)\n", r.Oriented)
	}
	printTiled(c, r)
	printDecoded(c, r)
	printNarrowed(c, r)
	printPixelStats(c, r.PixelStats, "  ")
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
	kept, reasons := byFrequency(r.Untiled)
	switch {
	case kept > 0:
		c.printf("  tiled %d of %d; %d copied: %s\n", r.Tiled, r.Tiled+kept, kept, reasons)
	case r.Tiled > 0:
		c.printf("  tiled %d of %d\n", r.Tiled, r.Tiled)
	}
}

// byFrequency returns the sum of the counts of reasons, and a list of them, the most frequent first.
func byFrequency[N int | int64](counts map[string]N) (sum N, list string) {
	reasons := slices.Sorted(maps.Keys(counts))
	slices.SortStableFunc(reasons, func(a, b string) int { return cmp.Compare(counts[b], counts[a]) })
	for i, why := range reasons {
		sum += counts[why]
		reasons[i] = fmt.Sprintf("%d %s", counts[why], why)
	}
	return sum, strings.Join(reasons, ", ")
}

// printDecoded prints where the images of a pack with --decoder gpu were decoded.
func printDecoded(c *console, r *convert.Report) {
	d := r.Decoded
	if d == nil {
		return
	}
	c.printf("  decoded: %d by the GPU's JPEG engine, %d by CUDA, %d on the CPU", d.Engine, d.CUDA, d.CPU)
	if n, reasons := byFrequency(d.Reasons); n > 0 {
		c.printf(" (%s)", reasons)
	}
	c.printf("\n")
	failed := map[string]int64{}
	for why, n := range d.Reasons {
		if !gpudecode.ByKind(why) {
			failed[why] = n
		}
	}
	if n, reasons := byFrequency(failed); n > 0 {
		c.printf("  warning: the GPU failed for %d images, which were decoded on a slower path: %s; another pack may give them slightly other pixels\n", n, reasons)
	}
}

// printNarrowed prints how many images lost bits, and how.
func printNarrowed(c *console, r *convert.Report) {
	counts := map[string]int{}
	for _, w := range r.Narrowed {
		counts[w.Cause]++
	}
	for _, how := range slices.Sorted(maps.Keys(counts)) {
		hint := ""
		if codec.KeptDeep(how) {
			hint = "; --color keep with --encode png or raw keeps all 16 bits"
		}
		c.printf("  %d images: %s%s\n", counts[how], how, hint)
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
	s.printFolders(c)
	if s.Ignored > 0 {
		c.printf("%d other files are not images and were ignored\n", s.Ignored)
	}
	if len(s.KeepExtension) > 0 {
		c.printf("%d images have the same name but for the extension, so their keys keep it, such as %s\n", len(s.KeepExtension), printable(s.KeepExtension[0]))
	}
	printFirst(c, s.Skipped, 10, "", func(k convert.Problem) string {
		return "  " + string(k.Action) + " " + printable(k.Path) + ": " + legible.Line(k.Cause)
	})
	if s.Table != "" && len(s.Rows()) > 0 {
		c.printf("report of skipped images and warnings: %s\n", printable(s.Table))
	}
}

// printPixelStats prints the statistics of a dataset's pixels, if it has them, each line after indent.
func printPixelStats(c *console, s *formats.PixelStats, indent string) {
	if s == nil {
		return
	}
	printFigures(c, &s.PixelFigures, indent, "pixels    ")
	for i := range s.Splits {
		printFigures(c, &s.Splits[i], indent+"  ", "split    "+printable(s.Splits[i].Split)+":")
	}
}

func printFigures(c *console, f *formats.PixelFigures, indent, name string) {
	c.printf("%s%s mean %s, deviation %s; heights %s, widths %s", indent, name, figuresText(f.Mean), figuresText(f.Std), rangeText(f.Height), rangeText(f.Width))
	if f.Undecoded > 0 {
		c.printf("; %d images could not be decoded", f.Undecoded)
	}
	c.printf("\n")
	if len(f.Classes) > 0 && slices.Max(f.Classes) > 0 {
		c.printf("%s  classes  %d to %d images each\n", indent, slices.Min(f.Classes), slices.Max(f.Classes))
	}
}

func figuresText(v [3]float64) string { return fmt.Sprintf("%.4f %.4f %.4f", v[0], v[1], v[2]) }

// rangeText is the range of sizes: smallest, median, largest.
func rangeText(r formats.SizeRange) string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d to %d (median %d)", r.Min, r.Max, r.Median)
}
