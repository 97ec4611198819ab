package monitor

import (
	"context"
	"math"
	"runtime"
	"time"
)

// sources are where samples come from. Tests have others.
type sources struct {
	machine func(context.Context) (machine, error)
	disks   func() (disks, error)
	tree    interface {
		// usage is called by one goroutine; now is the time since the Monitor's start.
		usage(ctx context.Context, now time.Duration) (usage, error)
	}
	gpus func() (gpuSource, error)
	// spent is the CPU time of the calling thread.
	spent func() time.Duration
}

func newSources(pid int) sources {
	return sources{machine: readMachine, disks: newDisks(), tree: &tree{pid: pid}, gpus: openGPUs, spent: threadCPU}
}

// machine is the state of the machine. What is cumulative counts from its boot.
type machine struct {
	busy            time.Duration // of all cores, cumulative
	memory, swap    int64         // bytes in use
	swapIn, swapOut int64         // bytes, cumulative
}

// disks are bytes since the machine's boot.
type disks struct{ read, written int64 }

// usage is that of a process and its descendants.
type usage struct {
	cpu    time.Duration // cumulative
	memory int64         // bytes
}

// reading is all that one sample is made of.
type reading struct {
	at      time.Duration // since the start
	machine machine
	disks   disks
	own     usage
	gpus    []GPUSample
}

// since makes a sample of two readings.
func (r *reading) since(then *reading) Sample {
	seconds := (r.at - then.at).Seconds()
	rate := func(now, before int64) float64 { return math.Round(max(0, float64(now-before)) / seconds) }
	cores := func(now, before time.Duration) float64 {
		return round(max(0, (now-before).Seconds())/seconds, 1000)
	}
	return Sample{
		At:    round(r.at.Seconds(), 1000),
		Cores: cores(r.machine.busy, then.machine.busy), OwnCores: cores(r.own.cpu, then.own.cpu),
		Memory: r.machine.memory, OwnMemory: r.own.memory, Swap: r.machine.swap,
		SwapIn: rate(r.machine.swapIn, then.machine.swapIn), SwapOut: rate(r.machine.swapOut, then.machine.swapOut),
		DiskRead: rate(r.disks.read, then.disks.read), DiskWrite: rate(r.disks.written, then.disks.written),
		GPUs: r.gpus,
	}
}

// round rounds to 1/parts.
func round(x, parts float64) float64 { return math.Round(x*parts) / parts }

// sampler takes samples. All of it belongs to the Monitor's goroutine, and to Stop after that.
type sampler struct {
	from    sources
	clock   func() time.Duration
	gpus    *gpuWatch
	thinned thinned
	last    reading
	spent   time.Duration
	missing []string
}

// run samples until ctx ends.
func (s *sampler) run(ctx context.Context) {
	runtime.LockOSThread() // so that the thread's CPU time is that of the samples
	defer runtime.UnlockOSThread()
	s.last = s.read(ctx)
	timer := time.NewTimer(s.thinned.interval)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
			s.sample(ctx)
			timer.Reset(s.thinned.interval)
		}
	}
}

func (s *sampler) sample(ctx context.Context) {
	now := s.read(ctx)
	if now.at > s.last.at {
		s.thinned.add(now.since(&s.last))
		s.last = now
	}
}

// read reads everything, and notes what cannot be read.
func (s *sampler) read(ctx context.Context) reading {
	r := s.last // what cannot be read has not changed
	r.at = s.clock()
	begin := s.from.spent()
	if m, err := s.from.machine(ctx); err == nil {
		r.machine = m
	} else {
		s.miss(ctx, "the machine's CPU and memory", err)
	}
	if d, err := s.from.disks(); err == nil {
		r.disks = d
	} else {
		s.miss(ctx, "disks", err)
	}
	if u, err := s.from.tree.usage(ctx, r.at); err == nil {
		r.own = u
	} else {
		s.miss(ctx, "the process", err)
	}
	r.gpus = s.gpus.latest()
	s.spent += s.from.spent() - begin
	return r
}

// miss notes what could not be read. The end of a run is no reason.
func (s *sampler) miss(ctx context.Context, what string, err error) {
	text := what + ": " + err.Error()
	if ctx.Err() != nil || len(s.missing) == maxMissing {
		return
	}
	for _, one := range s.missing {
		if one == text {
			return
		}
	}
	s.missing = append(s.missing, text)
}

// maxMissing limits the errors of a Record.
const maxMissing = 10

// finish takes the last sample and returns the record. The goroutine of run has ended.
func (s *sampler) finish() *Record {
	if s.thinned.empty() || s.clock()-s.last.at >= s.thinned.interval/4 {
		s.sample(context.Background())
	}
	missing := s.missing
	gpus, err := s.gpus.outcome()
	if err != nil {
		missing = append(missing, "GPUs: "+err.Error())
	}
	return &Record{
		Interval: s.thinned.interval.Seconds(), Samples: s.thinned.samples, GPUs: gpus,
		Sampling: round(s.spent.Seconds(), 1e6), Missing: missing,
	}
}
