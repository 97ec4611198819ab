package main

import (
	"fmt"
	"maps"
	"slices"

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
