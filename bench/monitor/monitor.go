package monitor

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/dsconv/dsconv/internal/misuse"
)

// Monitor samples the machine until it is stopped. Its methods may be called from any goroutine.
type Monitor struct {
	started time.Time
	cancel  context.CancelFunc
	sampler *sampler
	ended   chan struct{} // closed when the sampling goroutine is done
	record  func() *Record
}

// Start begins to sample. The Monitor samples until Stop, which must be called, or until ctx ends. What the system does not tell
// is named in Record.Missing, and is no error.
func Start(ctx context.Context, o Options) (*Monitor, error) {
	if err := misuse.Context("monitor.Start", ctx); err != nil {
		return nil, err
	}
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if _, err := processCPU(o.PID); err != nil {
		return nil, fmt.Errorf("monitor: there is no process %d: %w", o.PID, err)
	}
	return start(ctx, o, newSources(o.PID)), nil
}

func start(ctx context.Context, o Options, from sources) *Monitor {
	ctx, cancel := context.WithCancel(ctx)
	m := &Monitor{started: time.Now(), cancel: cancel, ended: make(chan struct{})}
	m.sampler = &sampler{from: from, clock: m.now, thinned: thinned{interval: o.Interval}}
	gpus := watchGPUs(ctx, o.Interval, from.gpus)
	m.sampler.gpus = gpus
	go func() {
		defer close(m.ended)
		m.sampler.run(ctx)
	}()
	m.record = sync.OnceValue(func() *Record {
		cancel()
		<-m.ended
		gpus.wait()
		return m.sampler.finish()
	})
	return m
}

// now is the time since the start.
func (m *Monitor) now() time.Duration { return time.Since(m.started) }

// Seconds is the time since the Monitor's start, as in Sample.At. It is 0 for a Monitor that was not started.
func (m *Monitor) Seconds() float64 {
	if m == nil || m.record == nil {
		return 0
	}
	return m.now().Seconds()
}

// Stop takes a last sample, ends the sampling and returns all samples. Later calls return the same Record. It is nil for a
// Monitor that was not started.
func (m *Monitor) Stop() *Record {
	if m == nil || m.record == nil {
		return nil
	}
	return m.record()
}
