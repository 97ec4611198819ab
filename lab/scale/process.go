//go:build linux

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/procmemory"
	"github.com/dsconv/dsconv/reader"
	"github.com/dsconv/dsconv/reader/augment"
)

// probeName is the first argument of a process that only opens and loads a dataset.
const probeName = "probe"

// process is what a process of its own measured. Memory is that of the whole process; what its
// mappings of the dataset's files have in memory is in PSS, and not private.
type process struct {
	OpenSeconds       float64 `json:"open_seconds"`
	FirstBatchSeconds float64 `json:"first_batch_seconds"`     // from the call that opens the dataset
	EpochSeconds      float64 `json:"epoch_seconds,omitempty"` // of all epochs that were loaded
	Batches           int     `json:"batches"`

	Started procmemory.Usage `json:"started"` // before the dataset was opened
	Opened  procmemory.Usage `json:"opened"`
	Loaded  procmemory.Usage `json:"loaded"` // after the last batch, with the loader open
}

// processes measures processes of their own, in turns; the first ones load an epoch.
func (s *settings) processes(name string, f formats.WritableFormat, dirs []string, m []measurements) error {
	for k := range max(s.Opens, s.Epochs) {
		for d, dir := range dirs {
			args := []string{probeName, "--format", name, "--path", pathOf(f, dir), "--side", fmt.Sprint(s.Side)}
			if k < s.Epochs {
				args = append(args, "--epoch")
			}
			p, err := start(args)
			if err != nil {
				return err
			}
			m[d].Processes = append(m[d].Processes, p)
		}
	}
	return nil
}

func start(args []string) (p process, err error) {
	program, err := os.Executable()
	if err != nil {
		return p, err
	}
	var said bytes.Buffer
	c := exec.Command(program, args...)
	c.Stderr = &said
	b, err := c.Output()
	if err == nil {
		err = json.Unmarshal(b, &p)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, &said)
	}
	return p, err
}

// probe opens a dataset, loads a batch or an epoch of it and prints a process as JSON.
func probe(args []string, out io.Writer) error {
	flags := flag.NewFlagSet(probeName, flag.ContinueOnError)
	name := flags.String("format", "", "format of the dataset")
	path := flags.String("path", "", "the dataset")
	side := flags.Int("side", 48, "width and height of an image")
	epoch := flags.Bool("epoch", false, "load an epoch, not only a batch")
	if err := flags.Parse(args); err != nil {
		return err
	}
	f, err := formatOf(*name)
	if err != nil {
		return err
	}
	p, err := openAndLoad(f, *path, *side, *epoch)
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(p)
}

func openAndLoad(f formats.Format, path string, side int, epoch bool) (p process, err error) {
	if p.Started, err = procmemory.Own(); err != nil {
		return p, err
	}
	begin := time.Now()
	ds, err := f.Open(path)
	if err != nil {
		return p, err
	}
	p.OpenSeconds = time.Since(begin).Seconds()
	defer func() { err = errors.Join(err, ds.Close()) }()
	if p.Opened, err = procmemory.Own(); err != nil {
		return p, err
	}
	measured := time.Since(begin).Seconds() - p.OpenSeconds
	l, err := reader.New(ds, reader.Config{BatchSize: batch, Shuffle: true, Transforms: augment.Train(side)})
	if err != nil {
		return p, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	for k := 0; k == 0 || epoch && p.Batches < steadyBatches; k++ {
		for _, err := range l.Epoch(context.Background(), k) {
			if err != nil {
				return p, err
			}
			if p.Batches++; p.Batches == 1 {
				p.FirstBatchSeconds = time.Since(begin).Seconds() - measured
			}
			if !epoch {
				break
			}
		}
		p.EpochSeconds = time.Since(begin).Seconds() - measured
	}
	p.Loaded, err = procmemory.Own()
	return p, err
}

// steadyBatches is the least number of batches of a process that loads an epoch: of several epochs if one is
// short. By then Go's heap has the size at which it is collected.
const steadyBatches = 1000

// median returns the middle of what get says of the processes that did most: those that loaded an
// epoch, if there are any.
func median(all []process, get func(*process) float64) float64 {
	most := slices.MaxFunc(all, func(a, b process) int { return a.Batches - b.Batches }).Batches
	var values []float64
	for i := range all {
		if all[i].Batches == most {
			values = append(values, get(&all[i]))
		}
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// reportProcesses prints the medians of both datasets and how much more the large one takes.
func reportProcesses(out io.Writer, m []measurements) {
	for _, line := range []struct {
		name, unit string
		scale      float64
		get        func(*process) float64
	}{
		{"open", "ms", 1e3, func(p *process) float64 { return p.OpenSeconds }},
		{"first batch", "ms", 1e3, func(p *process) float64 { return p.FirstBatchSeconds }},
		{"opened, private", "MB", 1e-6, func(p *process) float64 { return float64(p.Opened.PrivateDirty) }},
		{"loaded, private", "MB", 1e-6, func(p *process) float64 { return float64(p.Loaded.PrivateDirty) }},
		{"loaded, anonymous", "MB", 1e-6, func(p *process) float64 { return float64(p.Loaded.Anonymous) }},
		{"loaded, PSS", "MB", 1e-6, func(p *process) float64 { return float64(p.Loaded.PSS) }},
		{"page tables", "MB", 1e-6, func(p *process) float64 { return float64(p.Loaded.PageTables) }},
	} {
		small, large := line.scale*median(m[0].Processes, line.get), line.scale*median(m[1].Processes, line.get)
		fmt.Fprintf(out, "  %-20s %7.1f %s %7.1f %s  + %.1f\n", line.name, small, line.unit, large, line.unit, large-small)
	}
}
