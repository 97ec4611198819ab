// Command dsconv-beam packs the shards of a plan on a runner of Apache Beam.
//
// Without a mode it is the launcher: it hands the missing shards to the runner, one element each, waits, and commits the dataset.
// The workers that the runner starts are the same program: README.md shows how.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
)

const usage = `Usage: dsconv-beam --plan PLAN [options]     pack the missing shards and commit the dataset
       dsconv-beam --pool HOST:PORT           start workers for runners that ask this address (environment_type EXTERNAL)
       dsconv-beam --id ID --provision_endpoint HOST:PORT    a worker, as runners start it (environment_type PROCESS)

Exit status: that of "dsconv shards commit": 0, or 3 if images were skipped. 1 if shards are missing: run it again.

`

var (
	plan    = flag.String("plan", "", "plan of the shards, by dsconv shards plan")
	dsconv  = flag.String("dsconv", "dsconv", "the command dsconv, under the same path on every worker")
	threads = flag.Int("threads", 1, "threads of each dsconv")
	atOnce  = flag.Int("at-once", 0, "shards that a worker process packs at once (default: its CPUs / threads)")
	retries = flag.Int("retries", 5, "how often a worker packs a shard again that failed, before the runner is told")
	runner  = flag.String("runner", "prism", "prism (in this process unless --endpoint is given), flink or portable")

	poolAddress       = flag.String("pool", "", "address to start workers at")
	provisionEndpoint = flag.String("provision_endpoint", "", "where a worker asks the runner for its endpoints")
)

func main() {
	flag.Usage = func() {
		fmt.Fprint(flag.CommandLine.Output(), usage)
		flag.PrintDefaults()
	}
	flag.Parse()
	beam.Init() // returns at once, except in a worker that a Beam container starts
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "dsconv-beam:", err)
	}
	os.Exit(exitStatus(err))
}

// run does what the flags say.
func run(ctx context.Context) error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("unexpected argument %q", flag.Arg(0))
	case *provisionEndpoint != "":
		return serveRunner(ctx, flag.Lookup("id").Value.String(), *provisionEndpoint)
	case *poolAddress != "":
		return servePool(ctx, *poolAddress)
	case *plan == "":
		return errors.New("--plan is missing; --help lists the options")
	}
	job, err := newJob()
	if err != nil {
		return err
	}
	return job.launch(ctx)
}

// newJob returns the job of the flags. Its paths are absolute, because workers run in other folders.
func newJob() (*job, error) {
	if *threads < 1 || *atOnce < 0 || *retries < 0 {
		return nil, errors.New("--threads must be at least 1, --at-once and --retries not negative")
	}
	path, err := filepath.Abs(*plan)
	if err != nil {
		return nil, err
	}
	command := *dsconv
	if strings.ContainsRune(command, filepath.Separator) {
		if command, err = filepath.Abs(command); err != nil {
			return nil, err
		}
	}
	unit := packShard{Dsconv: command, Plan: path, Threads: *threads, AtOnce: *atOnce, Retries: *retries}
	return &job{unit: unit, runner: *runner}, nil
}

// exitStatus returns the status of the command that failed, so that commit's "images were skipped" stays what it is.
func exitStatus(err error) int {
	var failed *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &failed) && failed.ExitCode() > 0:
		return failed.ExitCode()
	}
	return 1
}
