package convert

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/parallel"
)

const (
	maxReaders   = 32
	readersBytes = 64 << 20 // of samples that additional readers may have in memory
	slowRead     = 2 * time.Millisecond
	slowReads    = 8 // decide about one more reader
)

// readers are the goroutines that read. If reading waits for a disk or a network, and nothing else does, more of them are
// started: they wait at the same time. What is written does not depend on their number.
type readers struct {
	*run
	ctx     context.Context
	g       *errgroup.Group
	to      chan *job
	running atomic.Int64
	left    atomic.Int64 // how many more may be started
	slow    atomic.Int64 // slow reads since the last decision
	since   atomic.Pointer[usage]
}

// usage is what the process used of the processors.
type usage struct {
	at  time.Time
	cpu time.Duration
}

func usageNow() *usage {
	u := &usage{at: time.Now()}
	var used unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &used); err == nil {
		u.cpu = time.Duration(used.Utime.Nano() + used.Stime.Nano())
	}
	return u
}

// moreReaders returns how many readers may be started besides those n, none if the user said how many.
func (r *run) moreReaders(n int) int {
	if r.o.IOWorkers > 0 || r.growing != nil {
		return 0
	}
	return max(0, int(min(int64(maxReaders-n), readersBytes/r.jobBytes())))
}

// startReaders starts n goroutines that read samples and send them to to, which the last of them closes.
func (r *run) startReaders(ctx context.Context, g *errgroup.Group, n int, to chan *job) {
	rs := &readers{run: r, ctx: ctx, g: g, to: to}
	rs.left.Store(int64(r.moreReaders(n)))
	rs.since.Store(usageNow())
	rs.running.Store(int64(n))
	for range n {
		g.Go(rs.read)
	}
}

func (rs *readers) read() error {
	defer func() {
		if rs.running.Add(-1) == 0 {
			close(rs.to)
		}
	}()
	for j := range rs.run.read {
		if rs.readJob(rs.ctx, j) >= slowRead && len(rs.to) == 0 && rs.slow.Add(1)%slowReads == 0 {
			rs.start()
		}
		rs.readAgain(rs.ctx, j)
		rs.to <- j
	}
	return nil
}

// start starts one more reader, with a job for it, unless the processors have enough to do.
func (rs *readers) start() {
	now := usageNow()
	before := rs.since.Swap(now)
	if (now.cpu-before.cpu)*2 > now.at.Sub(before.at)*time.Duration(parallel.Cores()) || rs.left.Add(-1) < 0 {
		return
	}
	rs.running.Add(1)
	rs.idle <- newJob() // there is room for the jobs of all
	rs.g.Go(rs.read)
}
