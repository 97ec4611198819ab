// Command prediction compares what bench's advice and dsconv plan predict with what packing the whole dataset brings.
//
//	prediction [--rounds 7] [--seconds 2] [--sets demo,photos,small] [--images FOLDER] [--limit 25] [--json FILE] WORK
//
// It takes three sets, the demo images of dsconv synth, a folder of photos and 60,000 images of 32x32, each with three or four
// recommendations. For each it asks for the predictions, really packs the set, and loads the folder and all packed datasets
// in turns in one process. It writes predicted, measured and their ratio for the epoch, the bytes and the packing time,
// and fails if an epoch is off by more than the limit, in percent. WORK is a folder for the sets, which are made once.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/parallel"
)

func main() {
	parallel.RaiseForC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "prediction:", err)
		os.Exit(1)
	}
}

// options are the flags; the result holds them.
type options struct {
	Rounds  int     `json:"rounds"`
	Seconds float64 `json:"seconds"`
	Limit   float64 `json:"limit_percent"`
	Demo    int     `json:"demo_images"`
	Small   int     `json:"small_images"`
	sets    []string
	images  string
	json    string
	work    string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("prediction", flag.ContinueOnError)
	flags.IntVar(&o.Rounds, "rounds", 7, "turns of each dataset")
	flags.Float64Var(&o.Seconds, "seconds", 2, "about the least time of a turn of the folder, in whole epochs")
	flags.Float64Var(&o.Limit, "limit", 25, "percent that a predicted epoch may be off")
	flags.IntVar(&o.Demo, "demo", 2000, "images of the demo set")
	flags.IntVar(&o.Small, "small", 60_000, "images of 32x32")
	flags.StringVar(&o.images, "images", "", "folder of photos")
	flags.StringVar(&o.json, "json", "", "write the result to this file")
	sets := flags.String("sets", "demo,photos,small", "which to measure")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	o.sets, o.work = strings.Split(*sets, ","), flags.Arg(0)
	if o.work == "" || o.Rounds < 1 {
		return o, errors.New("wanted a folder for the sets, and at least one round")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	return o.run(ctx, out)
}

func (o *options) run(ctx context.Context, out io.Writer) error {
	r := result{Options: *o}
	if err := os.MkdirAll(o.work, 0o755); err != nil {
		return err
	}
	for _, name := range o.sets {
		s, err := o.set(ctx, name)
		if err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
		rows, err := s.compare(ctx, o)
		if err != nil {
			return fmt.Errorf("set %s: %w", name, err)
		}
		for i := range rows {
			fmt.Fprintln(out, rows[i].text())
		}
		r.Rows = append(r.Rows, rows...)
	}
	if o.json != "" {
		if err := durable.WriteJSON(o.json, &r); err != nil {
			return err
		}
	}
	return r.check(o.Limit / 100)
}
