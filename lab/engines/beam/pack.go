package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"runtime"
	"sync"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

// counters is the namespace of what the workers count.
const counters = "dsconv"

var (
	shardsPacked = beam.NewCounter(counters, "shards")
	attemptsMade = beam.NewCounter(counters, "attempts")
)

func init() {
	register.DoFn2x1[context.Context, int, error](&packShard{})
}

// A packShard is the DoFn that packs a shard. Its exported fields travel to the workers as JSON.
type packShard struct {
	Dsconv  string
	Plan    string
	Threads int
	AtOnce  int
	Retries int
}

// Setup makes room for as many children as the process may have.
func (p *packShard) Setup() {
	limitOnce.Do(func() {
		n := p.AtOnce
		if n == 0 {
			n = max(1, runtime.NumCPU()/p.Threads)
		}
		limit = make(chan struct{}, n)
	})
}

// limit is full when the process has as many children as it may have. Runners use any number of DoFns at once in a process.
var (
	limitOnce sync.Once
	limit     chan struct{}
)

// ProcessElement packs one shard, again after errors. It does so here because a runner that runs an element again
// may run all others again too, and Prism none.
func (p *packShard) ProcessElement(ctx context.Context, shard int) error {
	select {
	case limit <- struct{}{}:
		defer func() { <-limit }()
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	for attempt := 0; ; attempt++ {
		attemptsMade.Inc(ctx, 1)
		err := p.packOnce(ctx, shard)
		if err == nil {
			shardsPacked.Inc(ctx, 1)
			return nil
		}
		err = fmt.Errorf("shard %d: %w", shard, err)
		if attempt == p.Retries || ctx.Err() != nil || !worthRetrying(err) {
			return err
		}
		log.Warnf(ctx, "%v; trying again (%d of %d)", err, attempt+1, p.Retries)
		if !pause(ctx, backoff(attempt)) {
			return err
		}
	}
}

// worthRetrying reports whether another attempt may end otherwise. A program that is not there stays so.
func worthRetrying(err error) bool {
	return !errors.Is(err, exec.ErrNotFound) && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission)
}

// firstPause is how long a worker waits before its second attempt at a shard; a test shortens it.
var firstPause = time.Second

// backoff returns the pause after an attempt: twice the one before, at most 32 times the first.
func backoff(attempt int) time.Duration {
	return firstPause << min(attempt, 5)
}

// pause waits, and reports whether ctx is still alive.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
