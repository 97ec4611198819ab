package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/synth"
)

// subject is the training script whose DataLoaders are slow.
//
//go:embed subject.py
var subject []byte

const (
	subjectFile = "subject.py"
	smallImages = "small"
	largeImages = "large"
	manyImages  = "many"
	slowImages  = "slow"

	// longest is how long a measurement may take.
	longest = 10 * time.Minute
	// stopping is how long a program that was told to stop may take.
	stopping = 20 * time.Second
)

// images are the folders that bottlenecks measure.
var images = map[string]synth.Options{
	smallImages: {N: 48, Classes: 2, Width: 160, Height: 120},
	largeImages: {N: 24, Classes: 2, Width: 1600, Height: 1200},
	manyImages:  {N: 192, Classes: 2, Width: 320, Height: 240},
}

// errNotHere is returned for a bottleneck that this machine cannot have.
var errNotHere = errors.New("not on this machine")

// measure measures the bottlenecks in turns, in a scratch folder that is removed again. The result is not nil once a measurement has begun.
func measure(ctx context.Context, o *options, out io.Writer) (r *result, err error) {
	scratch, err := os.MkdirTemp("", "dsconv-bottlenecks-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	if o.dsconv, err = filepath.Abs(o.dsconv); err != nil {
		return nil, err
	}
	if err := prepare(ctx, scratch); err != nil {
		return nil, err
	}
	slow := filepath.Join(scratch, slowImages)
	unmount, noDisk := mountSlow(filepath.Join(scratch, smallImages), slow)
	if noDisk == nil {
		defer unmount()
	}
	if o.busy {
		stop, err := keepBusy(runtime.NumCPU())
		if err != nil {
			return nil, err
		}
		defer stop()
	}
	r = newResult(o)
	for round := range o.rounds {
		for k := range bottlenecks {
			b := &bottlenecks[k]
			if !strings.Contains(b.key(), o.only) {
				continue
			}
			v := verdictOf(ctx, o, b, scratch, noDisk)
			if ctx.Err() != nil {
				return r, ctx.Err()
			}
			v.Round = round + 1
			r.Verdicts = append(r.Verdicts, v)
			fmt.Fprintln(out, v.line())
		}
	}
	return r, nil
}

// prepare writes the images and the script.
func prepare(ctx context.Context, scratch string) error {
	for name, o := range images {
		if err := synth.Write(ctx, filepath.Join(scratch, name), o, nil); err != nil {
			return err
		}
	}
	if err := os.Mkdir(filepath.Join(scratch, slowImages), 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(scratch, subjectFile), subject, 0o644)
}

// verdictOf measures a bottleneck. noDisk says why there is no slow disk.
func verdictOf(ctx context.Context, o *options, b *bottleneck, scratch string, noDisk error) given {
	g := given{Name: b.key(), Want: b.cause, WantPart: b.part, Around: string(b.around)}
	if b.images == slowImages && noDisk != nil {
		g.Skipped = noDisk.Error()
		return g
	}
	begin := time.Now()
	report, err := b.measure(ctx, o, scratch)
	g.Seconds = time.Since(begin).Seconds()
	switch {
	case errors.Is(err, errNotHere):
		g.Skipped = err.Error()
	case err != nil:
		g.Error = err.Error()
	case len(report.Datasets) == 0 || report.Datasets[0].Verdict == nil:
		g.Error = "no verdict"
	default:
		if g.Verdict = report.Datasets[0].Verdict; !g.right() {
			g.Costs = report.Datasets[0].Costs
		}
	}
	return g
}

// measure runs bench where the bottleneck is, and reads its report.
func (b *bottleneck) measure(ctx context.Context, o *options, scratch string) (*bench.Report, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	file := filepath.Join(scratch, "report.json")
	line, leave, err := b.around.enter(ctx, scratch, append([]string{o.dsconv}, b.command(scratch, o.python, file)...))
	if err != nil {
		return nil, err
	}
	defer leave()
	c := exec.CommandContext(ctx, line[0], line[1:]...)
	c.Env = append(os.Environ(), "BOTTLENECK_IMAGES="+b.folder(scratch))
	c.Cancel = func() error { return c.Process.Signal(syscall.SIGTERM) }
	c.WaitDelay = stopping
	var said bytes.Buffer
	c.Stdout, c.Stderr = io.Discard, &said
	if err := c.Run(); err != nil {
		return nil, fmt.Errorf("%s: %w: %s", strings.Join(line, " "), err, bytes.TrimSpace(said.Bytes()))
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	report := &bench.Report{}
	return report, json.Unmarshal(data, report)
}

// has reports whether args have the flag.
func has(args []string, flag string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, flag+"=") })
}
