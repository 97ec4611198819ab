package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/doubts"
	"github.com/dsconv/dsconv/internal/legible"
)

func infoCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "info",
		Usage:     "describe a dataset",
		ArgsUsage: "DATASET",
		Description: "Counts the images of each class, the encodings and the sizes, from the index. That is left out for more\n" +
			"than two million samples, and for labels that are not in the index (several labels of one image,\n" +
			"numbers) if the images have more than 1 GB, unless --counts is given.\n\nExample:\n   dsconv info out.lmdb\n\n" + exitCodes,
		Flags: append(readFlags("DATASET"),
			&cli.BoolFlag{Name: "counts", Usage: "count classes, encodings and sizes, however long it takes"},
			&cli.BoolFlag{Name: "json", Usage: "print dataset.json and the counts as JSON"},
		),
		Action: func(cc *cli.Context) error {
			args, err := arguments(cc, "DATASET")
			if err != nil {
				return err
			}
			ds, err := openSource(cc, args[0], folder.Config{})
			if err != nil {
				return err
			}
			defer ds.Close()
			return info(cc, c, ds)
		},
	}
}

// datasetInfo is the description of a dataset for --json.
type datasetInfo struct {
	*formats.Meta
	Counts *infoCounts `json:"counts,omitempty"` // nil if they would take long
	// Of a source that dsconv did not write: what a pack finds there, and what is no sample.
	Found   int            `json:"found,omitempty"`
	Skipped []formats.Skip `json:"skipped,omitempty"`
	// Notices say what is probably a mistake.
	Notices []string `json:"notices,omitempty"`
}

// skip sets what a pack of ds finds and skips before it reads an image.
func (d *datasetInfo) skip(ds formats.Dataset) error {
	r, err := dsconv.NewReport(ds, formats.Patterns{})
	if d.Notices = r.LabelNotices; err != nil || len(r.Listed) == 0 {
		return err
	}
	d.Found = ds.Len() + len(r.Listed)
	for _, k := range r.Listed {
		d.Skipped = append(d.Skipped, formats.Skip{Path: k.Path, Cause: k.Cause})
	}
	return nil
}

// printSkipped prints how many images are no samples, and the first of them.
func (d *datasetInfo) printSkipped(c *console) {
	if len(d.Skipped) == 0 {
		return
	}
	c.printf("skipped    %d of %d found\n", len(d.Skipped), d.Found)
	printFirst(c, d.Skipped, 10, " (--json lists them all)", func(k formats.Skip) string {
		return fmt.Sprintf("  %s: %s", printable(k.Path), legible.Line(k.Cause))
	})
}

// maxLabelBytes is the most bytes of images that info reads for the labels in their records without --counts.
const maxLabelBytes = 1e9

// countsQuickly reports whether counting takes a moment only.
func countsQuickly(ds formats.Dataset) bool {
	return ds.Len() <= maxCounted && (newLabelReader(ds).inInfo() || ds.Meta().Stats.Bytes <= maxLabelBytes)
}

func info(cc *cli.Context, c *console, ds formats.Dataset) error {
	one := datasetInfo{Meta: ds.Meta()}
	if err := one.skip(ds); err != nil {
		return err
	}
	if cc.Bool("counts") || countsQuickly(ds) {
		var err error
		finder := doubts.New(0, ds)
		if one.Counts, err = countSamples(cc.Context, ds, finder.Add); err != nil {
			return err
		}
		found, err := finder.Found(cc.Context)
		if err != nil {
			return err
		}
		one.Notices = append(one.Notices, found...)
	}
	if cc.Bool("json") {
		return c.json(one)
	}
	printInfo(c, ds.Meta())
	one.printSkipped(c)
	if one.Counts != nil {
		one.Counts.print(c)
	} else {
		c.printf("classes and sizes are not counted, since that takes longer: --counts counts them\n")
	}
	printLabels(c, nil, one.Notices, "notice     ")
	return nil
}

func printInfo(c *console, m *formats.Meta) {
	c.printf("format     %s, version %d\n", m.Format, m.Version)
	c.printf("samples    %d\n", m.Count)
	for _, s := range m.Splits {
		c.printf("  split    %s: %d\n", printable(s.Name), s.Count)
	}
	for _, f := range m.Schema {
		c.printf("field      %s: %s", printable(f.Name), f.Kind)
		if f.DType != "" {
			c.printf(" %s", f.DType)
		}
		if len(f.Shape) > 0 {
			c.printf(" %v", f.Shape)
		}
		if len(f.Classes) > 0 {
			c.printf(", %d classes: %s", len(f.Classes), shortList(f.Classes, 10))
		}
		c.printf("\n")
	}
	if len(m.Columns) > 0 {
		c.printf("columns    %s\n", shortList(m.Columns, 20))
	}
	s := m.Stats
	c.printf("images     %s", formatBytes(s.Bytes))
	switch {
	case s.MaxHeight == 0:
	case s.Uniform:
		c.printf(", all %dx%d", s.MaxWidth, s.MaxHeight)
	default:
		c.printf(", %dx%d to %dx%d (smallest and largest side each way)", s.MinWidth, s.MinHeight, s.MaxWidth, s.MaxHeight)
	}
	c.printf("\n")
	printPixelStats(c, m.PixelStats, "")
	if len(m.Files) > 0 {
		c.printf("files      %d: %s\n", len(m.Files), shortList(m.Files, 3))
	}
	if h := m.History; h != nil {
		c.printf("edits      %d sample(s) with labels, split or columns set by hand, %d sample(s) removed by hand\n", h.Edited, h.Removed)
		if h.Origins > 0 {
			c.printf("origins    %d collections\n", h.Origins+1)
		}
	}
	for _, from := range slices.Sorted(maps.Keys(m.Renamed)) {
		c.printf("renamed    the source's class %s is %s\n", printable(from), printable(m.Renamed[from]))
	}
	for _, k := range slices.Sorted(maps.Keys(m.Recipe)) {
		c.printf("recipe     %s = %s\n", printable(k), printable(m.Recipe[k]))
	}
}

// maxCounted is the most samples that info counts without --counts: more than a second or two of reading
// the index.
const maxCounted = 2_000_000

// infoCounts is what info counts in the index of a dataset, and, for labels that are not in the index, in
// its records.
type infoCounts struct {
	Classes      []classCount   `json:"classes,omitempty"` // of the designated label, by index
	WithoutLabel int            `json:"without_label"`
	Labels       int            `json:"labels,omitempty"` // if an image may have several
	Encodings    map[string]int `json:"encodings"`
	Sizes        *imageSizes    `json:"sizes,omitempty"` // nil if the sizes are not recorded
}

// classCount counts the images of a class. One with several classes counts in each of them.
type classCount struct {
	Label  int    `json:"label"`
	Class  string `json:"class,omitempty"`
	Images int    `json:"images"`
}

// imageSizes are sizes by the number of pixels, each as height and width.
type imageSizes struct {
	Smallest  [2]int `json:"smallest"`
	Median    [2]int `json:"median"`
	Largest   [2]int `json:"largest"`
	Different int    `json:"different"`
	Unknown   int    `json:"unknown,omitempty"` // images whose size is not recorded

	counts map[[2]int]int
}

// maxSizes bounds the different sizes that are counted, and so the memory.
const maxSizes = 1 << 20

// countSamples reads the index of ds, of which each gets every sample, and the labels that are not in it.
func countSamples(ctx context.Context, ds formats.Dataset, each func(*formats.Info)) (*infoCounts, error) {
	n := &infoCounts{Encodings: map[string]int{}, Sizes: &imageSizes{counts: map[[2]int]int{}}}
	labels, images := newLabelReader(ds), map[int]int{}
	var in formats.Info // one for all: each would have every one allocated
	for i := range ds.Len() {
		var err error
		if in, err = ds.Info(i); err != nil || ctx.Err() != nil {
			return nil, errors.Join(err, ctx.Err())
		}
		each(&in)
		n.Encodings[cmp.Or(string(in.Encoding), "unknown")]++
		n.Sizes.add(in.Shape)
		switch {
		case labels.main < 0:
		case labels.inInfo():
			if in.Label < 0 {
				n.WithoutLabel++
			} else {
				images[int(in.Label)]++
			}
		default:
			if err := labels.use(i, func(values []formats.Value) { n.addLabels(labels, values, images) }); err != nil {
				return nil, err
			}
		}
	}
	n.Sizes.finish()
	if n.Sizes.Different == 0 {
		n.Sizes = nil
	}
	if labels.main >= 0 && labels.schema[labels.main].Kind != formats.Number {
		n.setClasses(labels.schema[labels.main].Classes, images)
	}
	return n, nil
}

// addLabels counts the labels of a sample that are not in the index.
func (n *infoCounts) addLabels(labels *labelReader, values []formats.Value, images map[int]int) {
	f, v := &labels.schema[labels.main], &values[labels.main]
	found := false
	if f.Kind == formats.Number {
		found = labelOf(f, v) != nil
	} else {
		for x, set := range v.Data {
			if set != 0 {
				found = true
				images[x]++
				n.Labels++
			}
		}
	}
	if !found {
		n.WithoutLabel++
	}
}

func (n *infoCounts) setClasses(names []string, images map[int]int) {
	for x, name := range names {
		n.Classes = append(n.Classes, classCount{Label: x, Class: name, Images: images[x]})
	}
	for _, x := range slices.Sorted(maps.Keys(images)) {
		if x >= len(names) {
			n.Classes = append(n.Classes, classCount{Label: x, Images: images[x]})
		}
	}
}

func (s *imageSizes) add(shape [3]int) {
	size := [2]int{shape[0], shape[1]}
	images := s.counts[size]
	switch {
	case size == [2]int{}:
		s.Unknown++
	case images > 0 || len(s.counts) < maxSizes:
		s.counts[size] = images + 1
	}
}

// finish sets the sizes of what was counted.
func (s *imageSizes) finish() {
	sizes := slices.SortedFunc(maps.Keys(s.counts), func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(a[0]*a[1], b[0]*b[1]), slices.Compare(a[:], b[:]))
	})
	if s.Different = len(sizes); s.Different == 0 {
		return
	}
	s.Smallest, s.Largest = sizes[0], sizes[len(sizes)-1]
	total := 0
	for _, size := range sizes {
		total += s.counts[size]
	}
	upTo := 0
	for _, size := range sizes {
		if upTo += s.counts[size]; 2*upTo >= total {
			s.Median = size
			return
		}
	}
}

// print prints the counts; at most maxLines classes, those with most images first.
func (n *infoCounts) print(c *console) {
	if s := n.Sizes; s != nil && s.Different > 1 {
		c.printf("sizes      %s smallest, %s median, %s largest (by pixels, width x height); %d different\n",
			sizeText(s.Smallest), sizeText(s.Median), sizeText(s.Largest), s.Different)
	}
	var encodings []string
	for _, name := range slices.SortedFunc(maps.Keys(n.Encodings), func(a, b string) int {
		return cmp.Or(n.Encodings[b]-n.Encodings[a], strings.Compare(a, b))
	}) {
		encodings = append(encodings, fmt.Sprintf("%d %s", n.Encodings[name], name))
	}
	if n.Encodings["unknown"] == 0 || len(encodings) > 1 { // a folder's files are not read
		c.printf("encodings  %s\n", strings.Join(encodings, ", "))
	}
	if n.Labels > 0 {
		c.printf("labels     %d\n", n.Labels)
	}
	if n.WithoutLabel > 0 {
		c.printf("no label   %d\n", n.WithoutLabel)
	}
	most := slices.SortedStableFunc(slices.Values(n.Classes), func(a, b classCount) int { return b.Images - a.Images })
	printFirst(c, most, maxLines, " classes (--json lists all)", func(k classCount) string {
		return fmt.Sprintf("  class    %s: %d", printable(cmp.Or(k.Class, fmt.Sprint(k.Label))), k.Images)
	})
}

func sizeText(size [2]int) string { return fmt.Sprintf("%dx%d", size[1], size[0]) }
