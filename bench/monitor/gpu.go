package monitor

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/dsconv/dsconv/internal/nvml"
)

// gpuSource is the machine's GPUs.
type gpuSource interface {
	GPUs() ([]nvml.GPU, error)
	Usage(number int) (nvml.Usage, error)
	Close() error
}

func openGPUs() (gpuSource, error) {
	l, err := nvml.Open()
	if err != nil {
		return nil, err // not l, which would be an interface that is not nil
	}
	return l, nil
}

// gpuWatch asks the GPUs in a goroutine of its own: a driver that has to wake up takes seconds, and one that is broken may
// never answer.
type gpuWatch struct {
	ended chan struct{}

	lock  sync.Mutex // guards what follows
	gpus  []GPU
	now   []GPUSample
	err   error
	asked bool // it has the GPUs, or the error
}

// watchGPUs asks until ctx ends.
func watchGPUs(ctx context.Context, interval time.Duration, open func() (gpuSource, error)) *gpuWatch {
	w := &gpuWatch{ended: make(chan struct{})}
	go func() {
		defer close(w.ended)
		w.note(w.run(ctx, interval, open))
	}()
	return w
}

func (w *gpuWatch) note(err error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.err, w.asked = err, true
	if err != nil {
		w.now = nil
	}
}

func (w *gpuWatch) run(ctx context.Context, interval time.Duration, open func() (gpuSource, error)) (err error) {
	source, err := open()
	if errors.Is(err, nvml.ErrNotInstalled) {
		return nil // most machines have none
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	found, err := source.GPUs()
	if err != nil {
		return err
	}
	gpus := make([]GPU, len(found))
	for k, g := range found {
		gpus[k] = GPU{Name: g.Name, Memory: g.Memory}
	}
	w.lock.Lock()
	w.gpus, w.asked = gpus, true
	w.lock.Unlock()
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for ctx.Err() == nil {
		if err := w.ask(source, len(gpus)); err != nil {
			return err
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
	}
	return nil
}

func (w *gpuWatch) ask(source gpuSource, count int) error {
	now := make([]GPUSample, count)
	for k := range now {
		u, err := source.Usage(k)
		if err != nil {
			return err
		}
		now[k] = GPUSample{Busy: u.Busy, Memory: u.Memory}
	}
	w.lock.Lock()
	defer w.lock.Unlock()
	w.now = now
	return nil
}

// latest is the last answer, nil before the first one. It is not written to again.
func (w *gpuWatch) latest() []GPUSample {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.now
}

// patience is how long the end of a Monitor waits for the GPUs' driver.
const patience = 2 * time.Second

// wait waits for the goroutine, whose context has ended. One that a broken driver holds is left behind: nothing can end it.
func (w *gpuWatch) wait() {
	select {
	case <-w.ended:
	case <-time.After(patience):
	}
}

// outcome is the GPUs, and why there are none or no more samples of them.
func (w *gpuWatch) outcome() ([]GPU, error) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !w.asked {
		return nil, errors.New("NVIDIA's driver did not answer; see that nvidia-smi works")
	}
	return w.gpus, w.err
}
