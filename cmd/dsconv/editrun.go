package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/preprocess"
)

// editExitCodes is the end of the help text of commands that change a dataset.
const editExitCodes = "The dataset does not change until the new version is complete. After an interruption repeat the\n" +
	"command to resume it.\n\n" + exitCodes

// editing returns the options that edits have in common.
func (o *writeOptions) editing() edit.Options {
	return edit.Options{
		GPU: o.convert.GPU, Workers: o.convert.Workers, Memory: o.convert.Memory, Checkpoint: o.convert.Checkpoint, Discard: o.convert.Discard,
		DryRun: o.dryRun, Progress: o.convert.Progress, Command: o.convert.Command,
	}
}

// editError is the error of an edit of the dataset at path. began: the new version was begun and not
// finished.
func editError(err error, began bool, path string) error {
	switch {
	case began:
		return fmt.Errorf("%w\n%s is unchanged", withHint(err, path), path)
	case errors.Is(err, formats.ErrUnknownFormat), errors.Is(err, formats.ErrRemote):
		return usageError{err}
	}
	return asUsage(err)
}

// editResult is the result of a command that edits a dataset, for --json.
type editResult struct {
	Path    string          `json:"path"`
	DryRun  bool            `json:"dry_run,omitempty"` // nothing was changed: this is what would be done
	Samples int             `json:"samples"`
	Written int             `json:"written"`
	Files   int             `json:"files,omitempty"`
	Kept    int             `json:"files_kept"`
	Stats   bool            `json:"stats_dropped,omitempty"`
	Details any             `json:"what,omitempty"`
	Report  *convert.Report `json:"report,omitempty"`
	// Skipped are bad inputs, and Table is the report file that lists them.
	Skipped []convert.Problem `json:"skipped,omitempty"`
	Table   string            `json:"table,omitempty"`
	// Unmatched are the patterns of --include and --exclude that match nothing.
	Unmatched *formats.Patterns `json:"unmatched,omitempty"`
	// Labels describes the label columns of the source's table.
	Labels []folder.LabelColumn `json:"labels,omitempty"`
	// LabelNotices says how labels were found.
	LabelNotices []string `json:"label_notices,omitempty"`
}

// editOutcome is a command's own part of the result of an edit.
type editOutcome struct {
	summary string   // a line of text
	details any      // the summary for --json
	inputs  *summary // skipped inputs; nil if the command reads no images
}

// printEdit prints the result of an edit.
func printEdit(c *console, r *edit.Report, o *writeOptions, a editOutcome) error {
	done := editResult{
		Path: r.Path, DryRun: r.DryRun, Samples: r.Samples, Written: r.Written, Files: r.Files, Kept: r.FilesKept, Stats: r.StatsDropped, Details: a.details,
	}
	if in := a.inputs; in != nil {
		done.Skipped, done.Table, done.Unmatched, done.Report = in.Skipped, in.Table, in.Unmatched, r.Run
		done.Labels, done.LabelNotices = in.Labels, in.LabelNotices
	}
	switch {
	case o.json:
		if err := c.json(done); err != nil {
			return err
		}
	case !o.quiet:
		a.print(c, r, &done)
	}
	if (len(done.Skipped) > 0 || r.Run != nil && len(r.Run.Kept) > 0) && !o.dryRun {
		return errSkipped
	}
	return nil
}

func (a *editOutcome) print(c *console, r *edit.Report, done *editResult) {
	c.printf("%s: %s\n", r.Path, a.summary)
	printLabels(c, done.Labels, done.LabelNotices, "  ")
	switch {
	case r.UpToDate:
		c.printf("already up to date\n")
	case r.DryRun:
		c.printf("would write %d samples%s; %d samples afterwards\n", r.Written, keptFilesText(r), r.Samples)
	default:
		c.printf("now %d samples, %d of them written%s\n", r.Samples, r.Written, keptFilesText(r))
	}
	if r.StatsDropped {
		c.printf("the statistics of the pixels are of the previous version and were dropped; pack --stats records new ones\n")
	}
	if a.inputs != nil {
		for _, r := range a.inputs.Datasets {
			printTiled(c, r)
			printDecoded(c, r)
			printNarrowed(c, r)
			printFirst(c, r.Kept, 10, "", func(k convert.Problem) string {
				return "  kept " + printable(k.Path) + ": " + legible.Line(k.Cause)
			})
		}
		a.inputs.SystemFolders = nil // an edit keeps the dataset's classes: ImageFolder's do not matter
		a.inputs.printNotices(c)
	}
}

func keptFilesText(r *edit.Report) string {
	if r.FilesKept == 0 {
		return ""
	}
	return fmt.Sprintf("; %d of %d file(s) unchanged", r.FilesKept, r.Files)
}

func nvjpegFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "nvjpeg", Usage: usage, DefaultText: "where it is usually installed"}
}

// openGPU opens the GPU that a recipe decodes on, if it does, for the conversion. closeGPU closes it.
func (o *writeOptions) openGPU(cc *cli.Context) (closeGPU func(), err error) {
	r := &o.convert.Recipe
	switch {
	case r.Decoder != preprocess.DecoderGPU && cc.IsSet("nvjpeg"):
		return nil, usageErrorf("--nvjpeg is for --decoder gpu")
	case r.Decoder != preprocess.DecoderGPU:
		return func() {}, nil
	}
	if err := r.Validate(); err != nil {
		return nil, usageError{err}
	}
	if o.convert.GPU, err = gpudecode.Open(gpuOptions(cc)); err != nil {
		return nil, err
	}
	return func() { o.convert.GPU.Close() }, nil
}

func gpuOptions(cc *cli.Context) gpudecode.Options {
	o := gpudecode.Options{NVJPEG: cc.String("nvjpeg")}
	program, err := os.Executable()
	if err != nil {
		return o
	}
	// In a wheel the program is dsconv/bin/dsconv of the Python packages, among which nvidia-nvjpeg may be.
	if bin := filepath.Dir(program); filepath.Base(bin) == "bin" && filepath.Base(filepath.Dir(bin)) == "dsconv" {
		o.Packages = []string{filepath.Dir(filepath.Dir(bin))}
	}
	return o
}

// editGPU is the GPU of an edit. A dataset that was packed with --decoder gpu needs it only if images are decoded: so
// it is no error yet if it cannot be opened.
type editGPU struct {
	*gpudecode.GPU
	missing error
}

// openEditGPU opens the GPU for an edit of the dataset that m describes, if it was packed with one.
func openEditGPU(cc *cli.Context, m *formats.Meta) (g editGPU, err error) {
	switch isGPU := m.Recipe["decoder"] == string(preprocess.DecoderGPU); {
	case !isGPU && cc.IsSet("nvjpeg"):
		return g, usageErrorf("--nvjpeg is for datasets that were packed with --decoder gpu")
	case isGPU:
		g.GPU, g.missing = gpudecode.Open(gpuOptions(cc))
	}
	return g, nil
}

func (g *editGPU) close() {
	if g.GPU != nil {
		g.Close()
	}
}

// explain returns err, the error of the edit, or why there is no GPU if the dataset at path needs one.
func (g *editGPU) explain(path string, err error) error {
	if g.missing != nil && errors.Is(err, convert.ErrNoGPU) {
		return fmt.Errorf("%s was packed with --decoder gpu, so a GPU must decode these images too: %w", path, g.missing)
	}
	return err
}
