// Command compare measures whether a change made dsconv faster or slower. It runs two builds of
// the program in turns on the same files, under the same conditions, and reports the
// median of the ratios.
//
//	compare -base OLD/bin/dsconv -head bin/dsconv -work build/compare -json result.json
//
// A ratio above 1 means that head is faster. Each ratio is of two consecutive turns; which side
// is first alternates from round to round. base packs the datasets in the work folder;
// they are removed at the end. compare only uses the command line of dsconv, so base can be
// an old version.
//
//	folder, plain, tiled  an epoch of random crops from JPEGs: a folder, as they are in an LMDB, tiled
//	small files, small    an epoch of small images from a folder and from an LMDB
//	raw lmdb, raw ...     an epoch of crops of stored pixels, in each format
//	pack keep, ...        packing a folder into an LMDB, to the end of the last fsync
//	open, list            info and ls of the LMDB and the tar of small images, with the start of the process
//	python ...            an epoch of the Loader of the two wheels (-base-python, -head-python)
//
// The CPU column is the same ratio of CPU time: it varies less on a machine
// that does other work too, and does not include waiting.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

// settings are the flags.
type settings struct {
	Base    string `json:"base"` // names of what was built
	Head    string `json:"head"`
	Images  string `json:"images"`
	N       int    `json:"n"`
	Rounds  int    `json:"rounds"`
	Workers int    `json:"workers"`

	base, head side
	work, json string
	only       *regexp.Regexp
}

// side is one of the two builds.
type side struct {
	name    string
	program string // dsconv
	python  string // with the side's wheel installed; "": no wheel is measured
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	s, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp(s.work, "compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	d, err := prepare(ctx, s, dir)
	if err != nil {
		return fmt.Errorf("prepare the datasets: %w", err)
	}
	r := report{Settings: *s}
	for _, c := range cases(s, d) {
		if !s.only.MatchString(c.name) {
			continue
		}
		m, err := compare(ctx, c, s)
		if err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
		fmt.Fprintln(progress, m.line())
		r.Cases = append(r.Cases, m)
	}
	if err := r.write(s.json); err != nil {
		return err
	}
	r.print(out)
	return nil
}

func parse(args []string) (*settings, error) {
	s := settings{base: side{name: "base"}, head: side{name: "head"}}
	f := flag.NewFlagSet("compare", flag.ContinueOnError)
	f.StringVar(&s.base.program, "base", "", "the older dsconv")
	f.StringVar(&s.head.program, "head", "", "the newer dsconv")
	f.StringVar(&s.base.python, "base-python", "", "a Python with the older wheel")
	f.StringVar(&s.head.python, "head-python", "", "a Python with the newer wheel")
	f.StringVar(&s.Base, "base-name", "", "name of base in the report, such as a commit")
	f.StringVar(&s.Head, "head-name", "", "name of head in the report")
	f.StringVar(&s.work, "work", "", "folder for the datasets, about 2 GB with 1000 images")
	f.StringVar(&s.Images, "images", "", "folder of images to use; if empty, dsconv synth writes them")
	f.IntVar(&s.N, "n", 1000, "images to use")
	f.IntVar(&s.Rounds, "rounds", 9, "how often each side is measured")
	f.IntVar(&s.Workers, "workers", 2, "goroutines that read and decode")
	f.StringVar(&s.json, "json", "", "write the report with all turns to this file")
	only := f.String("only", "", "measure only cases whose names match this regular expression")
	if err := f.Parse(args); err != nil {
		return nil, err
	}
	var err error
	if s.only, err = regexp.Compile(*only); err != nil {
		return nil, err
	}
	switch {
	case s.base.program == "" || s.head.program == "" || s.work == "":
		return nil, fmt.Errorf("-base, -head and -work are needed")
	case (s.base.python == "") != (s.head.python == ""):
		return nil, fmt.Errorf("-base-python and -head-python must be given together")
	case s.Rounds < 1 || s.Workers < 1 || s.N < 1:
		return nil, fmt.Errorf("-rounds, -workers and -n must be at least 1")
	}
	return &s, nil
}
