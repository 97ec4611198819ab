// Command bottlenecks checks bench's verdict: it really builds each bottleneck, in a user's DataLoader and in dsconv's own loader, and
// measures it with the command, as a user would.
//
//	bottlenecks [--rounds 1] [--busy] [--only TEXT] [--json FILE] --dsconv PROGRAM --python PROGRAM
//
// --busy keeps every core busy with other programs meanwhile. A bottleneck that this machine cannot have (FUSE, root,
// a control group for memory) is skipped by name. The exit code is 1 if a verdict is wrong.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	if os.Getenv(busyVariable) != "" {
		spin(os.Stdin)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bottlenecks:", err)
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	rounds         int
	busy           bool
	only           string
	json           string
	dsconv, python string
}

func parse(args []string) (o options, err error) {
	flags := flag.NewFlagSet("bottlenecks", flag.ContinueOnError)
	flags.IntVar(&o.rounds, "rounds", 1, "how often each bottleneck is measured")
	flags.BoolVar(&o.busy, "busy", false, "keep every core busy with other programs")
	flags.StringVar(&o.only, "only", "", "measure those whose names contain this text")
	flags.StringVar(&o.json, "json", "", "write the result to this file")
	flags.StringVar(&o.dsconv, "dsconv", "bin/dsconv", "the dsconv command")
	flags.StringVar(&o.python, "python", "python3", "a Python with torch, Pillow and dsconv's wheel")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if o.rounds < 1 || flags.NArg() > 0 {
		return o, errors.New("wanted flags alone, and at least one round")
	}
	return o, nil
}

// run measures and writes the result, also of what was measured until ctx ended.
func run(ctx context.Context, args []string, out io.Writer) error {
	o, err := parse(args)
	if err != nil {
		return err
	}
	r, err := measure(ctx, &o, out)
	if r != nil && o.json != "" {
		err = errors.Join(err, r.save(o.json))
	}
	if err != nil {
		return err
	}
	return r.summary(out)
}
