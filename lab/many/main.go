//go:build linux

// Command many measures what a dataset of very many samples takes: samples that are made up when they are
// asked for, and whose images are not stored. Only what grows with their number is there: the index, the
// manifest, the plan, the order of an epoch.
//
//	many --samples 100000000 --dir /tmp/many --json many.json
//
// Each phase is a process of its own, and its peak of private memory is read every 100 ms:
//
//   - "index" writes an index by package sampleindex, in key order;
//   - "open" opens it, draws an epoch's order, and looks up random samples by rank and by key, --lookups of
//     each, and again, when all that they touch is in memory ("warm");
//   - "plan" plans a pack of the samples, as package convert does;
//   - "pack" plans it and writes the dataset, with manifest and index, by the code that packs tars;
//   - "load" opens that dataset, and a Loader on it, and draws a shuffled epoch's order.
//
// It removes what it wrote. "pack" takes the most of the disk, of which a part has no names: the journal, the
// rows while they are sorted, index and manifest, in all about 300 bytes a sample.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/procmemory"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "many:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	Samples int      `json:"samples"`
	Shards  int      `json:"shards"`
	Lookups int      `json:"lookups"`
	Phases  []string `json:"phases"`

	dir, json, phase string
}

// result is what a phase measured. Bytes and Seconds are by what they are of.
type result struct {
	Phase   string             `json:"phase"`
	Seconds map[string]float64 `json:"seconds"`
	Bytes   map[string]int64   `json:"bytes"`
	// Lookups are per lookup, by what was looked for.
	Lookups map[string]lookupTime `json:"lookups,omitempty"`
	// PeakAnonymous is the most private memory that was seen, Memory the memory at the end.
	PeakAnonymous int64            `json:"peak_anonymous"`
	Memory        procmemory.Usage `json:"memory"`
}

// lookupTime is in microseconds. On a machine that does something else too, CPU is what a lookup takes.
type lookupTime struct {
	Wall float64 `json:"us"`
	CPU  float64 `json:"cpu_us"`
}

// phase does the work of one process.
type phase struct {
	name string
	do   func(s *settings, r *result) error
}

var phases = []phase{{"index", writeIndex}, {"open", openIndex}, {"plan", plan}, {"pack", pack}, {"load", load}}

func names() (list []string) {
	for _, p := range phases {
		list = append(list, p.name)
	}
	return list
}

func run(args []string, out io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	if s.phase != "" {
		return s.alone(out)
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(filepath.Join(s.dir, packedFolder))
	defer os.Remove(filepath.Join(s.dir, indexName))
	all := struct {
		Settings settings `json:"settings"`
		Results  []result `json:"results"`
	}{Settings: s}
	for _, name := range s.Phases {
		r, err := s.start(name)
		if err != nil {
			return err
		}
		r.report(out)
		all.Results = append(all.Results, r)
	}
	if s.json == "" {
		return nil
	}
	return durable.WriteJSON(s.json, all)
}

func parse(args []string) (settings, error) {
	s := settings{}
	list := strings.Join(names(), ",")
	flags := flag.NewFlagSet("many", flag.ContinueOnError)
	flags.IntVar(&s.Samples, "samples", 100_000_000, "made-up samples")
	flags.IntVar(&s.Shards, "shards", 1000, "files of the dataset that is packed")
	flags.IntVar(&s.Lookups, "lookups", 100_000, "random lookups of each kind")
	flags.StringVar(&s.dir, "dir", filepath.Join(os.TempDir(), "many"), "folder for what is written")
	flags.StringVar(&s.json, "json", "", "file for the result")
	flags.StringVar(&list, "phases", list, "what to measure, separated by commas")
	flags.StringVar(&s.phase, "phase", "", "do only this phase, in this process")
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	s.Phases = strings.Split(list, ",")
	for _, name := range s.Phases {
		if !slices.Contains(names(), name) {
			return s, fmt.Errorf("--phases: there is no phase %q; they are %s", name, strings.Join(names(), ", "))
		}
	}
	if s.Samples < 1 || s.Shards < 1 || s.Lookups < 1 {
		return s, errors.New("--samples, --shards and --lookups must be at least 1")
	}
	s.Shards = min(s.Shards, s.Samples)
	return s, nil
}

// start runs a phase as a process.
func (s *settings) start(name string) (r result, err error) {
	program, err := os.Executable()
	if err != nil {
		return r, err
	}
	c := exec.Command(program, "--phase", name, "--dir", s.dir, "--samples", fmt.Sprint(s.Samples),
		"--shards", fmt.Sprint(s.Shards), "--lookups", fmt.Sprint(s.Lookups))
	var said bytes.Buffer
	c.Stderr = &said
	b, err := c.Output()
	if err == nil {
		err = json.Unmarshal(b, &r)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", name, err, &said)
	}
	return r, err
}

// alone does the phase in this process and prints its result as JSON.
func (s *settings) alone(out io.Writer) error {
	k := slices.Index(names(), s.phase)
	if k < 0 {
		return fmt.Errorf("there is no phase %q", s.phase)
	}
	r := result{Phase: s.phase, Seconds: map[string]float64{}, Bytes: map[string]int64{}, Lookups: map[string]lookupTime{}}
	peak := watch()
	err := r.timed("all", func() error { return phases[k].do(s, &r) })
	r.PeakAnonymous = peak()
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(r)
}

// timed records how long do takes.
func (r *result) timed(name string, do func() error) error {
	start := time.Now()
	err := do()
	r.Seconds[name] = time.Since(start).Seconds()
	return err
}

// watch reads the process's private memory until the function that it returns is called.
func watch() (peak func() int64) {
	stop, done := make(chan struct{}), make(chan struct{})
	most := int64(0)
	look := func() {
		if sizes, err := procmemory.Sizes("/proc/self/status"); err == nil {
			most = max(most, sizes["RssAnon"])
		}
	}
	go func() {
		defer close(done)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				look()
			case <-stop:
				return
			}
		}
	}()
	return func() int64 {
		close(stop)
		<-done
		look()
		return most
	}
}

func (r *result) report(out io.Writer) {
	fmt.Fprintf(out, "%-6s %9.3f s, at most %.1f MB private", r.Phase, r.Seconds["all"], float64(r.PeakAnonymous)/1e6)
	for _, part := range []string{"open", "order", "epoch"} {
		if x, ok := r.Seconds[part]; ok {
			fmt.Fprintf(out, ", %s %.2f ms", part, 1e3*x)
		}
	}
	for _, part := range []string{"rank", "rank, warm", "key", "key, warm"} {
		if x, ok := r.Lookups[part]; ok {
			fmt.Fprintf(out, ", by %s %.2f us (%.2f of a processor)", part, x.Wall, x.CPU)
		}
	}
	for _, part := range []string{"index", "manifest"} {
		if x, ok := r.Bytes[part]; ok {
			fmt.Fprintf(out, ", %s %.1f bytes a sample", part, float64(x)/float64(r.Bytes["samples"]))
		}
	}
	fmt.Fprintln(out)
}
