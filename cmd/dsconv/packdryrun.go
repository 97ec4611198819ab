package main

import (
	"context"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/legible"
)

// dryRun is the result of pack --dry-run.
type dryRun struct {
	DryRun bool `json:"dry_run"` // the same key as in the commands that edit
	*summary
	Datasets []dryDataset `json:"datasets"`
}

// dryDataset is a dataset that a pack would write.
type dryDataset struct {
	Path    string              `json:"path"`
	Format  string              `json:"format"`
	Images  int                 `json:"images"`
	Shards  int                 `json:"shards"`
	BytesIn int64               `json:"bytes_in"`
	Measure convert.Measurement `json:"measured"`
	Splits  []formats.Split     `json:"splits,omitempty"`
	Classes []string            `json:"classes,omitempty"`
	First   []drySample         `json:"first"`
}

type drySample struct {
	Key   string `json:"key"`
	Label *int64 `json:"label,omitempty"` // nil if the label is not a class index
	Split string `json:"split,omitempty"`
	Bytes int64  `json:"bytes"`
}

// packDryRun prints what would be done. The expected size is measured on some of the samples.
func packDryRun(ctx context.Context, c *console, p *dsconv.PackPlan, o *writeOptions) error {
	d := dryRun{DryRun: true, summary: &summary{p.Report}}
	for _, one := range p.Datasets {
		ds, err := describePlan(ctx, one)
		if err != nil {
			return err
		}
		d.Datasets = append(d.Datasets, ds)
	}
	if o.json {
		return c.json(d)
	}
	for i := range d.Datasets {
		d.Datasets[i].print(c, len(d.Labels) > 0 && d.Labels[0].Column == "")
	}
	d.printSplits(c, o.src)
	printLabels(c, d.Labels, d.LabelNotices, "  ")
	printFields(c, d.Fields, "  ")
	d.printSkips(c)
	printUnmatched(c, d.Unmatched)
	printUnusedTable(c, d.UnusedTable)
	d.printFolders(c)
	return nil
}

func describePlan(ctx context.Context, p *convert.Plan) (d dryDataset, err error) {
	d = dryDataset{
		Path: p.Path, Format: p.Meta.Format, Images: p.Len(), Shards: p.Shards, BytesIn: p.Bytes, Splits: p.SplitCounts(), Classes: p.Meta.Classes(),
	}
	if d.Measure, err = p.Measure(ctx); err != nil {
		return d, err
	}
	head, err := p.Head(5)
	for _, in := range head {
		sample := drySample{Key: in.Key, Split: in.Split, Bytes: in.Size}
		if k := p.Meta.Schema.LabelIndex(); k >= 0 && p.Meta.Schema[k].Kind == formats.Label {
			sample.Label = &in.Label
		}
		d.First = append(d.First, sample)
	}
	return d, err
}

// print prints the dataset. named says that the line about class folders names the classes.
func (d *dryDataset) print(c *console, named bool) {
	m := &d.Measure
	c.printf("%s: %d images as %s, %d file(s)\n", printable(d.Path), d.Images, d.Format, d.Shards)
	about, on := "about ", "estimated by packing"
	if m.Tried == d.Images {
		about, on = "", "measured by packing"
	}
	c.printf("  %s%s on disk, %s of it images, from %s: %s %d of %d\n", about, formatBytes(m.Disk), formatBytes(m.BytesOut), formatBytes(d.BytesIn), on, m.Tried, d.Images)
	if m.Skipped > 0 {
		c.printf("  %d of these would be skipped\n", m.Skipped)
	}
	if m.Narrowed > 0 {
		c.printf("  %d of these have 16 bits per channel and would be reduced to 8; --color keep with --encode png or raw keeps 16\n", m.Narrowed)
	}
	for _, s := range d.Splits {
		c.printf("  split %s: %d\n", printable(s.Name), s.Count)
	}
	if len(d.Classes) > 0 && !named {
		c.printf("  %d classes: %s\n", len(d.Classes), shortList(d.Classes, 10))
	}
	for _, s := range d.First {
		c.printf("  %s", printable(s.Key))
		if s.Label != nil {
			c.printf("  label %d", *s.Label)
		}
		c.printf("  split %q  %s\n", s.Split, formatBytes(s.Bytes))
	}
}

func (d *dryRun) printSkips(c *console) {
	if len(d.Skipped) > 0 {
		c.printf("would skip %d:\n", len(d.Skipped))
	}
	printFirst(c, d.Skipped, 10, " (--json lists them all)", func(s convert.Problem) string {
		return "  " + printable(s.Path) + ": " + legible.Line(s.Cause)
	})
}
