// Command overhead shows what bench's own watching costs: epochs with the monitor, the counters and the timeline beside epochs
// without, in turns in one process.
//
//	overhead [--rounds 21] [--workers 0] [--consume 0] [--limit 2] [--json FILE] DATASET
//
// It compares the time of an epoch and the CPU time of an image, each as the median of the rounds' ratios, with
// their quartiles. It fails if watching takes more than the limit, in percent, of the epoch's time and of the CPU time both:
// one of them alone may be another program.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/parallel"
	"github.com/dsconv/dsconv/reader"
)

func main() {
	parallel.RaiseForC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "overhead:", err)
		os.Exit(1)
	}
}

// options are the flags; the result holds them.
type options struct {
	Dataset string  `json:"dataset"`
	Rounds  int     `json:"rounds"`
	Workers int     `json:"workers"`
	Batch   int     `json:"batch"`
	Size    int     `json:"size"`
	Consume float64 `json:"consume_images_per_second"`
	Limit   float64 `json:"limit_percent"`
	json    string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("overhead", flag.ContinueOnError)
	flags.IntVar(&o.Rounds, "rounds", 21, "epochs of each")
	flags.IntVar(&o.Workers, "workers", 0, "of the loader; 0 is the number of cores")
	flags.IntVar(&o.Batch, "batch", 64, "images per batch")
	flags.IntVar(&o.Size, "size", 224, "side of the images")
	flags.Float64Var(&o.Consume, "consume", 0, "images per second that the loop takes; 0 is no limit")
	flags.Float64Var(&o.Limit, "limit", 2, "percent that watching may take")
	flags.StringVar(&o.json, "json", "", "write the result to this file")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.Dataset = flags.Arg(0); o.Dataset == "" || o.Rounds < 1 {
		return o, errors.New("wanted a dataset or a folder of images, and at least one round")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	r := result{Options: o}
	if err := r.measure(ctx, o.epoch); err != nil {
		return err
	}
	fmt.Fprintln(out, r.text())
	if o.json != "" {
		r.Options.Dataset = filepath.Base(r.Options.Dataset) // where it is says nothing to others
		if err := durable.WriteJSON(o.json, &r); err != nil {
			return err
		}
	}
	if r.Seconds.percent() > o.Limit && r.CPU.percent() > o.Limit {
		return fmt.Errorf("watching takes more than %g %%", o.Limit)
	}
	return nil
}

// epoch measures an epoch after one that warms up.
func (o *options) epoch(ctx context.Context, watched bool) (turn, error) {
	r, err := bench.Run(ctx, []string{o.Dataset}, bench.Options{
		Rounds: 1, Size: o.Size, Consume: o.Consume, NoMonitor: !watched,
		Config: reader.Config{Workers: o.Workers, BatchSize: o.Batch, Shuffle: true},
	})
	if err != nil {
		return turn{}, err
	}
	d := &r.Datasets[0]
	return turn{Seconds: d.EpochSeconds, CPU: d.CPU}, nil
}

// turn is an epoch: its seconds, and the microseconds of CPU time an image.
type turn struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_us_per_image"`
}

// result is both kinds of epochs by rounds, and what follows from them.
type result struct {
	Options options `json:"options"`
	Watched []turn  `json:"watched"`
	Plain   []turn  `json:"plain"`
	Seconds spread  `json:"seconds_ratio"`
	CPU     spread  `json:"cpu_ratio"`
}

// spread is the quartiles of the rounds' ratios: watched divided by plain.
type spread struct {
	Low    float64 `json:"low"`
	Median float64 `json:"median"`
	High   float64 `json:"high"`
}

func (s spread) percent() float64 { return 100 * (s.Median - 1) }

func (s spread) text() string {
	return fmt.Sprintf("%+.2f %% (quartiles %+.2f and %+.2f)", s.percent(), 100*(s.Low-1), 100*(s.High-1))
}

// measure takes turns; which kind is first alternates.
func (r *result) measure(ctx context.Context, epoch func(context.Context, bool) (turn, error)) error {
	for round := range r.Options.Rounds {
		for _, watched := range [][]bool{{true, false}, {false, true}}[round%2] {
			t, err := epoch(ctx, watched)
			if err != nil {
				return err
			}
			if watched {
				r.Watched = append(r.Watched, t)
			} else {
				r.Plain = append(r.Plain, t)
			}
		}
	}
	r.Seconds = r.spread(func(t turn) float64 { return t.Seconds })
	r.CPU = r.spread(func(t turn) float64 { return t.CPU })
	return nil
}

func (r *result) spread(of func(turn) float64) spread {
	ratios := make([]float64, len(r.Watched))
	for k := range ratios {
		ratios[k] = of(r.Watched[k]) / of(r.Plain[k])
	}
	slices.Sort(ratios)
	at := func(share float64) float64 { return ratios[int(share*float64(len(ratios)-1)+0.5)] }
	return spread{Low: at(0.25), Median: at(0.5), High: at(0.75)}
}

func (r *result) text() string {
	return fmt.Sprintf("%d rounds: watching changes the epoch by %s, the CPU time of an image by %s",
		r.Options.Rounds, r.Seconds.text(), r.CPU.text())
}
