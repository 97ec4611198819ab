package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/metrics"

	// The runners that --runner can name; flink brings portable.
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/flink"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
)

// errInterrupted does not promise that the job ends: Flink goes on even if Beam's job server is told to cancel it.
var errInterrupted = errors.New("interrupted; a job on a cluster goes on, unless you cancel it there")

// A job is a plan and how its shards are packed.
type job struct {
	unit   packShard
	runner string
}

// launch packs the shards that are missing and commits the dataset.
func (j *job) launch(ctx context.Context) error {
	missing, err := j.missing(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		if err := j.pack(ctx, missing); err != nil {
			return fmt.Errorf("%w\nShards that are packed stay: run the same command again to pack the others", err)
		}
	}
	return j.commit(ctx)
}

// missing returns the numbers of the shards that are not there yet.
func (j *job) missing(ctx context.Context) ([]int, error) {
	cmd := exec.CommandContext(ctx, j.unit.Dsconv, "shards", "missing", j.unit.Plan)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cmd, err)
	}
	var numbers []int
	for _, line := range strings.Fields(string(out)) {
		n, err := strconv.Atoi(line)
		if err != nil {
			return nil, fmt.Errorf("%s printed %q, which is no number of a shard", cmd, line)
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// pack runs the pipeline.
func (j *job) pack(ctx context.Context, shards []int) error {
	stop, err := j.chooseEnvironment(ctx)
	if err != nil {
		return err
	}
	defer stop()
	result, err := beam.Run(ctx, j.runner, newPipeline(j.unit, shards))
	if ctx.Err() != nil {
		return errInterrupted
	}
	if err != nil {
		return err
	}
	printCounters(result)
	return nil
}

// newPipeline returns the pipeline: one element is one shard, and Reshuffle spreads them over the workers.
func newPipeline(unit packShard, shards []int) *beam.Pipeline {
	p, s := beam.NewPipelineWithRoot()
	beam.ParDo0(s, &unit, beam.Reshuffle(s, beam.CreateList(s, shards)))
	return p
}

// printCounters prints what the workers counted. A runner may count a shard again that it ran again.
func printCounters(result beam.PipelineResult) {
	if result == nil {
		return
	}
	all := result.Metrics().Query(func(m metrics.SingleResult) bool { return m.Namespace() == counters })
	for _, c := range all.Counters() {
		fmt.Fprintf(os.Stderr, "%s: %d\n", c.Name(), c.Result())
	}
}

// commit publishes the dataset, or names what is missing.
func (j *job) commit(ctx context.Context) error {
	cmd := exec.CommandContext(ctx, j.unit.Dsconv, "shards", "commit", j.unit.Plan)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	return nil
}
