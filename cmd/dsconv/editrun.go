package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// editExitCodes is the end of the help text of commands that change a dataset.
const editExitCodes = "The dataset does not change until the new version is complete. After an interruption repeat the\n" +
	"command to resume it.\n\n" + exitCodes

// withTarget opens a dataset to change it, calls do and closes the dataset.
func withTarget(cc *cli.Context, c *console, path string, do func(t *edit.Target, o *writeOptions) error) error {
	o, err := parseWriteFlags(cc, c)
	if err != nil {
		return err
	}
	f, err := detectFormat(path)
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

// editResult is the result of a command that edits a dataset, for --json.
type editResult struct {
	Path    string          `json:"path"`
	DryRun  bool            `json:"dry_run,omitempty"` // nothing was changed: this is what would be done
	Samples int             `json:"samples"`
	Written int             `json:"written"`
	Files   int             `json:"files,omitempty"`
	Kept    int             `json:"files_kept"`
	Old     *oldVersion     `json:"old,omitempty"` // the previous version, if it is kept
	Details any             `json:"what,omitempty"`
	Report  *convert.Report `json:"report,omitempty"`
	// Skipped are bad inputs, and Table is the report file that lists them.
	Skipped []convert.Problem `json:"skipped,omitempty"`
	Table   string            `json:"table,omitempty"`
	// Unmatched are the patterns of --include and --exclude that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// Labels describes the label columns of the source's table.
	Labels []folder.LabelColumn `json:"labels,omitempty"`
}

// editOutcome is a command's own part of the result of an edit.
type editOutcome struct {
	summary string   // a line of text
	details any      // the summary for --json
	inputs  *summary // skipped inputs; nil if the command reads no images
}

// runEdit runs the plan of an edit, nil if there is nothing to do, and prints the result.
func runEdit(ctx context.Context, c *console, t *edit.Target, p *convert.Plan, o *writeOptions, a editOutcome) (err error) {
	if !o.dryRun {
		if err := a.run(ctx, t.Path, p, o); err != nil {
			return fmt.Errorf("%w\n%s is unchanged", err, t.Path)
		}
	}
	done := editResult{Path: t.Path, DryRun: o.dryRun, Samples: t.Len(), Details: a.details}
	if p != nil {
		done.Samples, done.Written, done.Files, done.Kept = p.Samples, p.Len(), p.Shards, p.Kept()
		if !o.dryRun {
			if done.Samples, err = countSamples(t.Format, t.Path); err != nil {
				return err
			}
		}
		if err := done.findOld(o); err != nil {
			return err
		}
	}
	if in := a.inputs; in != nil {
		done.Skipped, done.Table, done.Unmatched, done.Labels = in.Skipped, in.Table, in.Unmatched, in.Labels
		if len(in.Datasets) > 0 {
			done.Report, done.Written = in.Datasets[0], in.Datasets[0].Written
		}
	}
	switch {
	case o.json:
		if err := c.json(done); err != nil {
			return err
		}
	case !o.quiet:
		a.print(c, t, p, o, &done)
	}
	if len(done.Skipped) > 0 && !o.dryRun {
		return errSkipped
	}
	return nil
}

// run runs the plan, if there is one, and writes the report of bad inputs.
func (a *editOutcome) run(ctx context.Context, path string, p *convert.Plan, o *writeOptions) error {
	switch in := a.inputs; {
	case in == nil && p != nil:
		_, err := runPlan(ctx, p, o)
		return err
	case p != nil:
		return in.run(ctx, path, p, o)
	case in != nil && len(in.Skipped) > 0:
		return in.run(ctx, path, nil, o)
	}
	return nil
}

func (a *editOutcome) print(c *console, t *edit.Target, p *convert.Plan, o *writeOptions, done *editResult) {
	c.printf("%s: %s\n", t.Path, a.summary)
	printLabels(c, done.Labels, "  ")
	switch {
	case p == nil:
		c.printf("already up to date\n")
	case o.dryRun:
		c.printf("would write %d samples%s; %d samples afterwards\n", p.Len(), keptFilesText(p), p.Samples)
	default:
		c.printf("now %d samples, %d of them written%s\n", done.Samples, done.Written, keptFilesText(p))
	}
	done.Old.print(c, o)
	if a.inputs != nil {
		for _, r := range a.inputs.Datasets {
			printTiled(c, r)
			printNarrowed(c, r)
		}
		a.inputs.printNotices(c)
	}
}

func keptFilesText(p *convert.Plan) string {
	if p.Kept() == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d file(s) unchanged", p.Kept(), p.Shards)
}

// runPlan runs a plan and shows its progress. Its error has a hint.
func runPlan(ctx context.Context, p *convert.Plan, o *writeOptions) (*convert.Report, error) {
	defer o.progress.end()
	r, err := p.Run(ctx)
	if err != nil {
		err = withHint(err, p.Path)
	}
	return r, err
}

func countSamples(f formats.Format, path string) (int, error) {
	ds, err := f.Open(path)
	if err != nil {
		return 0, err
	}
	return ds.Len(), ds.Close()
}
