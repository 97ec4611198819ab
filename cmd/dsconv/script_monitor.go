package main

import (
	"context"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/monitor"
)

// scriptMonitor watches Python, which measures, and its workers.
type scriptMonitor struct {
	monitor *monitor.Monitor
	began   float64 // by the machine's monotonic clock
}

// watchScript watches a process. One that has ended already is not watched.
func watchScript(ctx context.Context, pid int) scriptMonitor {
	m, err := monitor.Start(ctx, monitor.Options{PID: pid})
	if err != nil {
		return scriptMonitor{}
	}
	return scriptMonitor{m, monotonic() - m.Seconds()}
}

// stop ends the watching.
func (m scriptMonitor) stop() *monitor.Record { return m.monitor.Stop() }

// add puts what was watched into the report, whose timelines have the time of the machine's monotonic clock.
func (m scriptMonitor) add(r *bench.Report) {
	record := m.stop()
	if record == nil || len(record.Samples) == 0 {
		return
	}
	r.Monitor = record
	for i := range r.Datasets {
		if t := r.Datasets[i].Timeline; t != nil && t.Begin > 0 {
			t.Begin = max(0, t.Begin-m.began)
		}
	}
}
