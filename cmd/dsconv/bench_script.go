package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/interpreter"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// pythonUsage is the exit code of Python's dsconv.measure after a wrong option, a script that is missing, and the like.
const pythonUsage = 2

// measureCode runs dsconv.measure, whose script then imports from its own folder.
const measureCode = `try:
    from dsconv.measure import main
except ImportError as err:
    sys.exit(str(err))
main()
`

// pythonStops is how long a Python that was told to stop may take: it ends its DataLoader's workers.
const pythonStops = 10 * time.Second

// scriptFlags are those of bench --script. Python's dsconv.measure has the same names.
func scriptFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "script", Usage: "measure the DataLoader in `SCRIPT`, such as train.py:loader, or the one that a function of that name returns; after the name the script's own arguments, in quotes together"},
		&cli.StringFlag{Name: "python", Value: "python3", EnvVars: []string{"DSCONV_PYTHON"}, Usage: "with --script: `PROGRAM` is the Python of the training, with dsconv's wheel"},
		&cli.StringFlag{Name: "step", Usage: "with --script: the function `NAME` of the script is the loop's step on a batch"},
		&cli.StringFlag{Name: "transfer", Usage: "with --script: the function `NAME` of the script moves a batch to the device and returns it"},
		&cli.BoolFlag{Name: "tune", Usage: "with --script: also measure the DataLoader with the workers, prefetching, pinning and persistence that are best here"},
	}
}

// besideScript are the flags of bench that apply to a script's loader.
var besideScript = []string{
	"script", "python", "step", "transfer", "rounds", "limit-batches", "consume", "merge", "json", "html",
	"progress", "quiet", "tune", "advise",
}

// checkScript returns an error if flags contradict --script or need it.
func checkScript(cc *cli.Context) error {
	if !cc.IsSet("script") {
		for _, name := range []string{"step", "transfer", "tune"} {
			if cc.IsSet(name) {
				return usageErrorf("--%s needs --script", name)
			}
		}
		return nil
	}
	for _, name := range cc.LocalFlagNames() {
		if !slices.Contains(besideScript, name) {
			return usageErrorf("--%s and --script cannot be used together: the script's DataLoader has its own settings", name)
		}
	}
	if cc.IsSet("consume") && (cc.IsSet("step") || cc.IsSet("transfer")) {
		return usageErrorf("--consume stands in for a loop: leave out --step and --transfer")
	}
	return positive(cc, "rounds", "limit-batches")
}

// runScript lets the user's Python measure the DataLoader of a script, and dsconv's loader on the same images.
func runScript(cc *cli.Context, c *console) (*bench.Report, error) {
	asJSON, err := progressAsJSON(cc)
	if err != nil {
		return nil, err
	}
	args, err := scriptArguments(cc)
	if err != nil {
		return nil, err
	}
	messages := &scriptMessages{c: c, quiet: cc.Bool("quiet"), asJSON: asJSON, rounds: cc.Int("rounds")}
	python := cmp.Or(cc.String("python"), "python3") // the variable may be set and empty
	report, err := measureScript(cc.Context, python, args, messages)
	if err != nil {
		return nil, err
	}
	report.Judge()
	return report, c.tryPackings(cc, report, cc.String("script"))
}

// scriptArguments are those of Python's dsconv.measure.
func scriptArguments(cc *cli.Context) ([]string, error) {
	args := []string{"--progress=json", "--json=3", "--script=" + cc.String("script")}
	for _, name := range []string{"step", "transfer"} {
		if cc.IsSet(name) {
			args = append(args, "--"+name+"="+cc.String(name))
		}
	}
	for _, name := range []string{"rounds", "limit-batches"} {
		if cc.IsSet(name) {
			args = append(args, "--"+name+"="+strconv.Itoa(cc.Int(name)))
		}
	}
	if cc.Bool("tune") {
		args = append(args, "--tune")
	}
	if cc.IsSet("consume") {
		rate, err := parseRate(cc.String("consume"))
		if err != nil {
			return nil, usageError{err}
		}
		args = append(args, fmt.Sprintf("--consume=%g", rate))
	}
	return append(append(args, "--"), cc.Args().Slice()...), nil
}

// measureScript runs Python, which writes its report to a pipe. When ctx ends, so do Python and its workers.
func measureScript(ctx context.Context, python string, args []string, messages *scriptMessages) (*bench.Report, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	cmd := interpreter.Command(ctx, python, measureCode, args...)
	cmd.Env = nil // the script's PYTHONPATH is as without bench
	cmd.ExtraFiles = []*os.File{w}
	cmd.Stdout, cmd.Stderr = messages, messages
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = pythonStops
	err = cmd.Start()
	w.Close()
	if err != nil {
		return nil, fmt.Errorf("%w: --python names the Python of the training", err)
	}
	type result struct {
		report *bench.Report
		err    error
	}
	read := make(chan result, 1)
	go func() {
		report, err := bench.ReadReport(r)
		_, _ = io.Copy(io.Discard, r) // Python must not wait for its reader
		read <- result{report, err}
	}()
	err = cmd.Wait()
	if err != nil { // what Python's workers may still hold open is not waited for
		r.Close()
	}
	found := <-read
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, messages.failure(python, err)
	}
	if found.err != nil {
		return nil, fmt.Errorf("the report of %s -m dsconv.measure: %w", python, found.err)
	}
	return found.report, nil
}

// scriptMessages takes what Python and the script print. Lines of progress become the command's own; all others pass.
type scriptMessages struct {
	c             *console
	quiet, asJSON bool
	rounds        int
	rest          []byte // of a line that is not complete
	last          string // line that was no progress
	own           string // message of dsconv.measure
}

// Write takes text. os/exec calls it from one goroutine, as both streams have the same writer.
func (m *scriptMessages) Write(data []byte) (int, error) {
	m.rest = append(m.rest, data...)
	for {
		line, rest, whole := bytes.Cut(m.rest, []byte("\n"))
		if !whole {
			return len(data), nil
		}
		m.line(string(line))
		m.rest = rest
	}
}

func (m *scriptMessages) line(line string) {
	var p benchProgressJSON
	own, isOwn := strings.CutPrefix(line, "dsconv.measure: ")
	switch {
	case strings.HasPrefix(line, `{"round"`) && json.Unmarshal([]byte(line), &p) == nil:
		m.c.showTurn(&p, m.rounds, m.quiet, m.asJSON)
	case isOwn:
		m.own = own
	default:
		if strings.TrimSpace(line) != "" {
			m.last = line
		}
		m.c.logf("%s", line)
	}
}

// failure is the error for a Python that ended with err.
func (m *scriptMessages) failure(python string, err error) error {
	var exit *exec.ExitError
	switch {
	case m.own != "" && errors.As(err, &exit) && exit.ExitCode() == pythonUsage:
		return usageErrorf("%s", m.own)
	case m.own != "":
		return errors.New(m.own)
	case strings.Contains(m.last, "No module named dsconv") || strings.Contains(m.last, "No module named 'dsconv"):
		return fmt.Errorf("%s has no dsconv: install the wheel there, or name another Python with --python", python)
	}
	return fmt.Errorf("the script failed: %s: %w", cmp.Or(m.last, python), err)
}

// waitsFor is the share of the epoch that a loop must wait for data before packing is tried.
const waitsFor = 0.1

// advisePacking adds to the advice of a DataLoader's report what packing its folder would bring to dsconv's loader, which was measured
// beside it. The first dataset of the report is the DataLoader. Nothing is tried if the transforms of dsconv's loader
// are not native, or if the loop does not wait for data.
func advisePacking(ctx context.Context, r *bench.Report, progress func(plan.Progress)) error {
	if whyNoPackings(r) != "" {
		return nil
	}
	own, ours := &r.Datasets[0], nativeRow(r)
	ops, err := augment.Parse(ours.Settings["augment"].(string))
	if err != nil {
		return err
	}
	o := plan.Options{Progress: progress}
	o.Bench.Config = reader.Config{
		Transforms: ops, BatchSize: ours.Costs.Batch, Workers: ours.Costs.Workers, DType: formats.Float32, Layout: pixel.NCHW,
	}
	list, err := plan.Candidates(ctx, ours.Settings["dataset"].(string), ours.Costs, o)
	if err != nil {
		return err
	}
	changed := ours.Settings["lossless"] == false // by other transforms
	for i := range list {
		c := &list[i]
		c.Command += ", then dsconv.Loader on it"
		// The rounds say how the two loaders compare; Candidates only compares with dsconv's.
		c.Before, c.After, c.BreakEven = own.EpochSeconds, c.After/c.Before*own.EpochSeconds/ours.Ratio, 0
		c.Lossless = c.Lossless && !changed
	}
	advice := verdict.Advise(own.Costs, *own.Verdict, slices.Concat(r.Advice.Candidates, list))
	r.Advice = &advice
	return nil
}

// tryPackings adds to the report of a DataLoader, name, what packing would bring, unless the flags refuse that. What was
// measured is not lost if it fails.
func (c *console) tryPackings(cc *cli.Context, r *bench.Report, name string) error {
	if cc.IsSet("advise") && !cc.Bool("advise") {
		return nil
	}
	if why := whyNoPackings(r); why != "" && cc.IsSet("advise") {
		r.Notes = append(r.Notes, "no ways to pack were tried: "+why)
	}
	show, err := c.planProgress(cc, name)
	if err != nil {
		return err
	}
	if err := advisePacking(cc.Context, r, show); err != nil {
		if cc.Err() != nil {
			return err
		}
		r.Notes = append(r.Notes, "no ways to pack were tried: "+err.Error())
	}
	return nil
}

// whyNoPackings says why no ways to pack are tried for the DataLoader of a report; "" if they are.
func whyNoPackings(r *bench.Report) string {
	switch {
	case len(r.Datasets) == 0 || r.Datasets[0].Costs == nil || r.Datasets[0].Verdict == nil || r.Advice == nil:
		return "the report does not say what loading costs"
	case r.Datasets[0].Costs.Loop && r.Datasets[0].Costs.Starved < waitsFor:
		return "the loop hardly waits for data"
	case nativeRow(r) == nil:
		return "it has no row of dsconv's loader on the same folder whose transforms all run natively"
	}
	return ""
}

// nativeRow is the row of dsconv's loader on the folder with native transforms; nil if there is none.
func nativeRow(r *bench.Report) *bench.Dataset {
	for i := range r.Datasets[1:] {
		d := &r.Datasets[1+i]
		path, _ := d.Settings["dataset"].(string)
		words, _ := d.Settings["augment"].(string)
		if path != "" && words != "" && d.Costs != nil && d.EpochSeconds > 0 && d.Ratio > 0 {
			return d
		}
	}
	return nil
}

// advise sets the report's advice, if the flags ask for that.
func advise(cc *cli.Context, c *console, r *bench.Report) error {
	alone := len(r.Datasets) == 1 && r.Datasets[0].Format == "folder"
	switch asked := cc.IsSet("advise"); {
	case asked && !cc.Bool("advise"), !asked && !alone:
		return nil
	case !asked && slowBatches(r):
		r.Notes = append(r.Notes, "no ways to pack were tried, as each batch takes seconds: --advise tries them")
		return nil
	}
	show, err := c.planProgress(cc, r.Datasets[0].Path)
	if err != nil {
		return err
	}
	open, err := opener(cc, r.Datasets[0].Path)
	if err != nil {
		return err
	}
	err = plan.Advise(cc.Context, r, plan.Options{Progress: show, Open: open, Reading: readingWords(cc)})
	if err != nil && cc.Err() == nil { // what was measured is not lost for that
		r.Notes = append(r.Notes, "there is no advice: "+err.Error())
		return nil
	}
	return err
}

// slowBatches reports whether trying ways to pack would take minutes, which nobody asked for.
func slowBatches(r *bench.Report) bool {
	const most = 2 // seconds of a batch
	speed := r.Datasets[0].ImagesPerSecond
	return speed > 0 && float64(r.Options.BatchSize)/speed > most
}
