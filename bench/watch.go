package bench

import (
	"context"
	"fmt"
	"time"

	"github.com/dsconv/dsconv/bench/monitor"
	"github.com/dsconv/dsconv/bench/verdict"
)

// watch starts the monitor.
func (b *bench) watch(ctx context.Context) (err error) {
	if b.options.NoMonitor {
		return nil
	}
	if b.monitor, err = monitor.Start(ctx, monitor.Options{}); err != nil {
		return fmt.Errorf("bench.Run: %w", err)
	}
	return nil
}

// newTrace traces the next epoch; nil if nothing is to be watched.
func (b *bench) newTrace() *trace {
	if b.monitor == nil {
		return nil
	}
	return &trace{origin: b.monitor.Seconds(), made: time.Now()}
}

// turnWatch is a turn that is watched.
type turnWatch struct {
	begin  float64 // in the monitor's time
	before *monitor.Counters
}

// begin begins to watch a turn. Its counters are read outside of the turn's time.
func (b *bench) begin(ctx context.Context) turnWatch {
	if b.monitor == nil {
		return turnWatch{}
	}
	w := turnWatch{before: counters(ctx)}
	w.begin = b.monitor.Seconds()
	return w
}

// end completes the round.
func (w turnWatch) end(ctx context.Context, m *Round) {
	m.Begin = w.begin
	if w.before == nil {
		return
	}
	if after := counters(ctx); after != nil {
		waited := after.Sub(*w.before)
		m.Waited = &waited
	}
}

// counters are those of this process; nil where the system has none.
func counters(ctx context.Context) *monitor.Counters {
	c, err := monitor.Read(ctx, 0)
	if err != nil {
		return nil
	}
	c.Queue += goroutinesQueued()
	return &c
}

// addMeasurement fills in the share of the epoch that the monitor took, as if no core had been free for it.
func (r *Report) addMeasurement(c *verdict.Costs) {
	if c == nil || r.Monitor == nil || len(r.Monitor.Samples) == 0 {
		return
	}
	c.Measurement = ratio(r.Monitor.Sampling, r.Monitor.Samples[len(r.Monitor.Samples)-1].At)
}
