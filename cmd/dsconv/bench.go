package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/page"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

func benchCommand(c *console) *cli.Command {
	return &cli.Command{
		Name:      "bench",
		Usage:     "measure the loading speed of several datasets",
		ArgsUsage: "[SRC DST...]",
		Description: `Loads epochs of each dataset or folder with the same loader, augmentations and batches, in
interleaved rounds. The ratio compares a dataset with the first one. Batches are dropped,
or used by a simulated GPU (--consume); starved is the share of
the epoch in which the GPU waited for data. A sentence for each dataset names
what holds its epoch back: that without which the epoch would be shortest.

Several folders and archives are one dataset, written as one word: train=train.tar,val=val/. --labels,
--field, --boxes and the like say how the first dataset is read, as in dsconv pack. So it has the
samples and fields of what was packed from it.

--script train.py:NAME measures the DataLoader of a training script, or any iterable of batches, and
looks into its workers: what they read, decode, each transform, collate. dsconv's loader reads the
same folder with the same transforms beside it; so are datasets that are given too. The script is
imported, not run as main. NAME may be a function without arguments that returns the DataLoader.
Arguments of the script follow NAME: --script 'train.py:loader --data images'.
The report ends with one recommendation. If all transforms run natively and the loop waits for
data, ways to pack some of the images are tried for it too, unless --advise=false is given.

With a folder alone, or with --advise, ways to pack some of its images are tried and one is
recommended, or none, with the command that packs so and the predicted time of an epoch.

--merge prints reports of other runs below the table: earlier runs of bench, dsconv.timed or
python -m dsconv.train. The ratios of a report compare with the first row of that report.
Without a SRC only these reports are printed. --merge - reads a report from standard input.
Rows of theirs that have costs and no verdict get one. With --advise, ways to pack are tried for the
DataLoader of the first report, as with --script.

Examples:
   dsconv bench images/ out.lmdb 'out-%06d.tar'
   dsconv bench images/ out.lmdb --consume 3000/s --json bench.json
   dsconv bench --merge bench.json --html bench.html
   dsconv bench train=train.tar,val=val/ out.lmdb --field mask=masks/{key}.png
   dsconv bench --script train.py:loader --step train_step
   dsconv bench --merge before.json --merge after.json

Augmentations:
   ` + strings.ReplaceAll(augment.Syntax, "\n", "\n   ") + "\n\n" + exitCodes,
		Flags: slices.Concat([]cli.Flag{
			&cli.IntFlag{Name: "rounds", Value: 3, Usage: "measure each dataset `N` times, after one round to warm up"},
			&cli.IntFlag{Name: "epochs", Value: 1, Usage: "`N` epochs per dataset and round"},
			&cli.IntFlag{Name: "limit-batches", Usage: "end each epoch after `N` batches", DefaultText: "all"},
			&cli.StringFlag{Name: "layout", Usage: "`LAYOUT` of the batches: nchw or nhwc", DefaultText: "nchw"},
			&cli.StringFlag{Name: "consume", Usage: "let a consumer take at most `RATE`, such as 3000/s"},
			&cli.BoolFlag{Name: "advise", Usage: "try ways to pack some images of the first dataset, and recommend one with its predicted gain", DefaultText: "with a folder alone, or --script"},
			&cli.StringSliceFlag{Name: "merge", Usage: "print the report in `FILE`, written by --json, below the table"},
			&cli.StringFlag{Name: "json", Usage: "write the report with all rounds to `FILE`; with - or without FILE (as the last word or before a flag) to standard output, without the table"},
			&cli.StringFlag{Name: "html", Usage: "write the report with its charts to `FILE`, one page that needs no network; - is standard output, without the table"},
			progressFlag(),
			&cli.BoolFlag{Name: "quiet", Usage: "no progress"},
		}, readFlags("SRC"), sourceFlags("dsconv pack --help", ""), scriptFlags(),
			loaderFlags("64", "224", "rrc:SIZE,flip,normalize", "float32")),
		Action: func(cc *cli.Context) error {
			if err := checkOutputs(cc); err != nil { // before anything is measured
				return err
			}
			others, err := readReports(c, cc.StringSlice("merge")) // before anything is measured
			if err != nil {
				return err
			}
			if err := checkScript(cc); err != nil {
				return err
			}
			if cc.IsSet("script") {
				report, err := runScript(cc, c)
				if err != nil {
					return err
				}
				others = append([]*bench.Report{report}, others...)
			}
			if len(others) > 0 && (cc.IsSet("script") || !cc.Args().Present()) { // the reports alone
				if !cc.IsSet("script") && cc.Bool("advise") {
					if err := c.tryPackings(cc, others[0], others[0].Source); err != nil {
						return err
					}
				}
				others[0].Merge(others[1:]...)
				return writeBench(cc, c, others[0])
			}
			paths, err := argumentsOrMore(cc, "SRC")
			if err != nil {
				return err
			}
			o, err := benchOptions(cc)
			if err != nil {
				return usageError{err}
			}
			if o.Open, err = opener(cc, paths[0]); err != nil {
				return err
			}
			return runBench(cc, c, paths, o, others)
		},
	}
}

func benchOptions(cc *cli.Context) (o bench.Options, err error) {
	if err := positive(cc, "rounds", "epochs", "limit-batches"); err != nil {
		return o, err
	}
	if o, err = loadOptions(cc); err != nil {
		return o, err
	}
	o.Rounds, o.Epochs, o.LimitBatches = cc.Int("rounds"), cc.Int("epochs"), cc.Int("limit-batches")
	_, err = o.Filled()
	return o, err
}

// loadOptions are what bench and plan load with.
func loadOptions(cc *cli.Context) (o bench.Options, err error) {
	o.Size = cc.Int("size")
	if o.Config, err = loaderConfig(cc); err != nil {
		return o, err
	}
	o.Layout = pixel.Layout(cc.String("layout"))
	if cc.IsSet("consume") {
		o.Consume, err = parseRate(cc.String("consume"))
	}
	return o, err
}

// parseRate reads a consumer's rate, images per second: "3000/s" or "3000".
func parseRate(s string) (float64, error) {
	rate, err := strconv.ParseFloat(strings.TrimSuffix(s, "/s"), 64)
	if err != nil || !(rate > 0) || math.IsInf(rate, 1) {
		return 0, fmt.Errorf("rate %q: write images per second, such as 3000/s", s)
	}
	return rate, nil
}

func runBench(cc *cli.Context, c *console, paths []string, o bench.Options, others []*bench.Report) error {
	show, err := c.benchProgress(cc)
	if err != nil {
		return err
	}
	o.Progress = show
	report, err := bench.Run(cc.Context, paths, o)
	if err != nil {
		return withSampleHint(err)
	}
	if err := advise(cc, c, report); err != nil {
		return err
	}
	report.Merge(others...)
	return writeBench(cc, c, report)
}

// readReports reads reports. A report without a source gets its file as its source.
func readReports(c *console, files []string) (reports []*bench.Report, err error) {
	for _, file := range files {
		in := io.NopCloser(c.in)
		if file != "-" {
			if in, err = unblocked.OpenNamed(file); err != nil {
				return nil, fmt.Errorf("merge %s: %w", file, err)
			}
		}
		r, err := bench.ReadReport(in)
		in.Close()
		if err != nil {
			return nil, fmt.Errorf("merge %s: %w", file, err)
		}
		if file != "-" {
			r.Source = cmp.Or(r.Source, file)
		}
		r.Judge()
		reports = append(reports, r)
	}
	return reports, nil
}

// benchOutput is a form in which bench or plan writes its report.
type benchOutput struct {
	flag string
	ours func(f io.Reader) bool // reports whether a file is such a report
	name string
}

const ofBench = "report of dsconv bench"

// benchOutputs are the flags of bench that name a file for the report.
var benchOutputs = []benchOutput{
	{"json", func(f io.Reader) bool { _, err := bench.ReadReport(f); return err == nil }, ofBench},
	{"html", isPage, ofBench},
}

func isPage(f io.Reader) bool {
	head := make([]byte, len(page.Mark))
	_, err := io.ReadFull(f, head)
	return err == nil && string(head) == page.Mark
}

// checkOutputs returns an error for files that the report must not be written to, before anything is measured.
func checkOutputs(cc *cli.Context) error {
	flags := map[string]string{} // by the file
	for _, o := range benchOutputs {
		file := cc.String(o.flag)
		if file == "" {
			continue
		}
		if onStdout(file) {
			file = "-"
		}
		if other := flags[file]; other != "" {
			return usageErrorf("--%s and --%s cannot both write to %s: give one of them another file", other, o.flag, file)
		}
		flags[file] = o.flag
		if err := o.check(file); err != nil {
			return err
		}
	}
	return nil
}

// onStdout reports whether a file is standard output.
func onStdout(file string) bool {
	fd, ok := durable.Descriptor(file)
	return file == "-" || ok && fd == 1
}

// check returns an error if another file than such a report is at the path: the dataset to measure, for instance.
func (o *benchOutput) check(file string) error {
	if err := durable.Check(file); err != nil || file == "-" {
		return err
	}
	if st, err := os.Stat(filepath.Dir(file)); err != nil || !st.IsDir() {
		return usageErrorf("--%s %s: there is no folder %s: make it first", o.flag, file, filepath.Dir(file))
	}
	if st, err := os.Stat(file); err != nil || !st.Mode().IsRegular() || st.Size() == 0 {
		return nil // writing it returns the error
	}
	if _, open := durable.Descriptor(file); open {
		return nil // what the shell opened
	}
	f, err := unblocked.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if !o.ours(f) {
		return usageErrorf("--%s %s: this file exists and is no %s: choose another name; - is standard output", o.flag, file, o.name)
	}
	return nil
}

// writeBench writes the report to the files that were asked for, and prints the table unless standard output is one of them.
func writeBench(cc *cli.Context, c *console, r *bench.Report) error {
	printed := true
	for _, o := range benchOutputs {
		printed = printed && !onStdout(cc.String(o.flag))
	}
	if printed {
		if err := c.printTable(r.WriteTable); err != nil {
			return err
		}
	}
	for _, o := range benchOutputs {
		file := cc.String(o.flag)
		var err error
		switch {
		case file == "":
		case file == "-" && o.flag == "json":
			err = c.json(r)
		case file == "-":
			err = page.WriteHTML(c.out, r)
		case o.flag == "json":
			err = durable.WriteJSON(file, r)
		default:
			err = durable.Write(file, func(w io.Writer) error { return page.WriteHTML(w, r) })
		}
		if err != nil {
			return err
		}
	}
	return nil
}
