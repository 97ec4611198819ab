package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// editExitCodes are those of commands that change a dataset.
const editExitCodes = "The dataset is as it was until the new version is complete. An interrupted command is gone\n" +
	"on with by the same command.\n\n" + exitCodes

// editFlags are of every command that makes a new version of a dataset.
func editFlags(more ...cli.Flag) []cli.Flag {
	return append(more,
		keepOldFlag(),
		&cli.BoolFlag{Name: "discard", Usage: "drop an unfinished version and start anew"},
		&cli.StringFlag{Name: "checkpoint", Usage: "write about `SIZE` between two checkpoints", DefaultText: "256MiB"},
		&cli.IntFlag{Name: "workers", Aliases: []string{"j"}, Usage: "goroutines", DefaultText: "the number of cores"},
		&cli.BoolFlag{Name: "dry-run", Usage: "say what would be done"},
		&cli.BoolFlag{Name: "json", Usage: "print what was done as JSON"},
		progressFlag(),
		&cli.BoolFlag{Name: "quiet", Usage: "print errors only"},
	)
}

// editOptions are the flags of editFlags.
func editOptions(cc *cli.Context) (*packOptions, error) {
	asJSON, err := progressAsJSON(cc)
	if err != nil {
		return nil, err
	}
	o := &packOptions{
		dryRun: cc.Bool("dry-run"), json: cc.Bool("json"), quiet: cc.Bool("quiet"), progressJSON: asJSON,
		convert: convert.Options{Workers: cc.Int("workers"), Discard: cc.Bool("discard"), KeepOld: cc.Bool("keep-old")},
	}
	if size := cc.String("checkpoint"); size != "" {
		if o.convert.Checkpoint, err = convert.ParseSize(size); err != nil {
			return nil, usageError{err}
		}
	}
	return o, nil
}

// withTarget opens a dataset to change it, for as long as do takes.
func withTarget(cc *cli.Context, path string, do func(t *edit.Target, o *packOptions) error) error {
	o, err := editOptions(cc)
	if err != nil {
		return err
	}
	f, err := formatAt(path)
	if err != nil {
		return err
	}
	t, err := edit.Open(f, path)
	if err != nil {
		return err
	}
	defer t.Close()
	return do(t, o)
}

// edited is what a command did, for --json.
type edited struct {
	Path    string          `json:"path"`
	DryRun  bool            `json:"dry_run,omitempty"` // nothing was done: this is what would be
	Samples int             `json:"samples"`
	Written int             `json:"written"`
	Files   int             `json:"files,omitempty"`
	Kept    int             `json:"files_kept"`
	Old     *keptOld        `json:"old,omitempty"` // the version before, if it is kept
	What    any             `json:"what,omitempty"`
	Report  *convert.Report `json:"report,omitempty"`
	// Skipped are bad inputs, and Table is the file that lists them.
	Skipped []convert.Skip `json:"skipped,omitempty"`
	Table   string         `json:"table,omitempty"`
	// Unmatched are the patterns of --include and --exclude that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// Labels tells what was made of the label columns of the source's table.
	Labels []folder.LabelColumn `json:"labels,omitempty"`
}

// amended is a command's own part of what is said about an edit.
type amended struct {
	said  string   // a line
	what  any      // the same for --json
	table *summary // of inputs that may be bad; nil if there are none
}

// amend carries the plan of an edit out, nil if there is nothing to do, and says what was
// done.
func amend(ctx context.Context, c *console, t *edit.Target, p *convert.Plan, o *packOptions, a amended) error {
	done := edited{Path: t.Path, DryRun: o.dryRun, Samples: t.Len(), What: a.what}
	if p != nil {
		done.Samples, done.Written, done.Files, done.Kept = p.Samples, p.Len(), p.Shards, p.Kept()
	}
	if p != nil && !o.dryRun {
		if err := a.run(ctx, c, p, o); err != nil {
			return fmt.Errorf("%w\n%s is as it was", err, t.Path)
		}
		var err error
		if done.Samples, err = samplesOf(t.Format, t.Path); err != nil {
			return err
		}
	}
	if p != nil {
		if err := done.findOld(o); err != nil {
			return err
		}
	}
	if p == nil && !o.dryRun {
		if err := a.listSkipped(o, t.Path); err != nil {
			return err
		}
	}
	if a.table != nil {
		done.Skipped, done.Table = a.table.Skipped, a.table.Report
		done.Unmatched = a.table.Unmatched
		done.Labels = a.table.Labels
	}
	if a.table != nil && len(a.table.Datasets) > 0 {
		done.Report = a.table.Datasets[0]
		done.Written = done.Report.Written
	}
	switch {
	case o.json:
		if err := c.json(done); err != nil {
			return err
		}
	case !o.quiet:
		a.print(c, t, p, o, &done)
	}
	if a.table != nil && len(a.table.Skipped) > 0 && !o.dryRun {
		return errSkipped
	}
	return nil
}

// listSkipped writes the table of bad inputs where there is nothing else to do.
func (a *amended) listSkipped(o *packOptions, path string) error {
	if a.table == nil || len(a.table.Skipped) == 0 {
		return nil
	}
	if err := checkTable(o.report, path); err != nil {
		return err
	}
	return a.table.writeTable(o.report, path)
}

// run carries the plan out and writes the table of bad inputs.
func (a *amended) run(ctx context.Context, c *console, p *convert.Plan, o *packOptions) error {
	if a.table != nil {
		if err := checkTable(o.report, p.Path); err != nil {
			return err
		}
	}
	r, err := runPlan(ctx, c, p, o)
	if err != nil {
		err = packFailed(err, p.Path)
	}
	if a.table == nil {
		return err
	}
	a.table.add(r)
	if err != nil {
		return errors.Join(err, a.table.writeKnown(o.report, p.Path))
	}
	return a.table.writeTable(o.report, p.Path)
}

func (a *amended) print(c *console, t *edit.Target, p *convert.Plan, o *packOptions, done *edited) {
	c.printf("%s: %s\n", t.Path, a.said)
	printLabels(c, done.Labels, "  ")
	switch {
	case p == nil:
		c.printf("nothing is to be done\n")
	case o.dryRun:
		c.printf("would write %d samples%s; %d samples then\n", p.Len(), stayed(p), p.Samples)
	default:
		c.printf("%d samples now; %d written%s\n", done.Samples, done.Written, stayed(p))
	}
	done.Old.print(c, o)
	if a.table != nil {
		for _, r := range a.table.Datasets {
			printTiled(c, r)
			printNarrowed(c, r)
		}
		a.table.printOdd(c)
	}
}

func stayed(p *convert.Plan) string {
	if p.Kept() == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d file(s) stay as they are", p.Kept(), p.Shards)
}

// runPlan runs a plan with its progress shown.
func runPlan(ctx context.Context, c *console, p *convert.Plan, o *packOptions) (*convert.Report, error) {
	show, end := func(convert.Progress) {}, func() {}
	if !o.quiet && p.Len() > 0 {
		show, end = c.progress(p.Path, p.Len(), o.progressJSON)
	}
	defer end()
	return p.Show(show).BegunBy(typed(ctx)).Run(ctx)
}

func samplesOf(f formats.Format, path string) (int, error) {
	ds, err := f.Open(path)
	if err != nil {
		return 0, err
	}
	return ds.Len(), ds.Close()
}
