package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// OnError says what happens to samples that cannot be read, decoded or transformed. Errors that are
// not the sample's fault (pixel.EndsRun, formats.ErrClosed) always end the epoch, and so does a source that was moved or
// unmounted. Bytes that cannot be read (formats.Unreadable) are their sample's error here, unlike in a pack: nothing is lost by
// an epoch.
type OnError string

const (
	// Fail ends the epoch with the error of the first bad sample, which names its key.
	Fail OnError = "fail"
	// Skip leaves bad samples out: Batch.N is smaller by Batch.Skipped. A batch that has no
	// sample left is an error.
	Skip OnError = "skip"
	// Substitute replaces each bad sample by another one of the epoch, always the same for a
	// seed: batches stay full.
	Substitute OnError = "substitute"
)

// ErrBadSample matches, by errors.Is, the error of an epoch that a bad sample ended, as [Fail] says.
var ErrBadSample = errors.New("a bad sample")

// badSampleError is the error of a bad sample, with its own text.
type badSampleError struct{ error }

func (e badSampleError) Unwrap() error { return e.error }

func (e badSampleError) Is(target error) bool { return target == ErrBadSample }

// ParseOnError reads "fail", "skip" or "substitute".
func ParseOnError(s string) (OnError, error) {
	switch o := OnError(s); o {
	case Fail, Skip, Substitute:
		return o, nil
	}
	return "", fmt.Errorf("on error %q: unknown; use %s, %s or %s", s, Fail, Skip, Substitute)
}

// endsRun reports whether err is not the sample's fault.
func endsRun(err error) bool { return pixel.EndsRun(err) || errors.Is(err, formats.ErrClosed) }

// substitutes is how many other samples are tried in place of a bad one. That many bad ones in a row
// are no accident.
const substitutes = 16

// BadSample is a sample that could not be used.
type BadSample struct {
	Index int // as Batch.Indices counts
	Err   error
}

// maxBad is the maximum number of bad samples that a Loader lists.
const maxBad = 1000

// Bad returns how many times a bad sample was skipped or replaced since the Loader was opened, and
// the first thousand different samples.
func (l *Loader) Bad() (times int64, samples []BadSample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.badTimes, append(samples, l.bad...)
}

// ReportBad adds sample i of the split, in key order, to Bad: it was read, but the caller could not
// process it.
func (l *Loader) ReportBad(i int, err error) error {
	if i < 0 || i >= l.samples.Len() {
		return fmt.Errorf("sample %d: the indices are 0 to %d", i, l.samples.Len()-1)
	}
	l.reportBad(i, err)
	return nil
}

func (l *Loader) reportBad(index int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.badTimes++
	for k := range l.bad {
		if l.bad[k].Index == index {
			return
		}
	}
	if len(l.bad) < maxBad {
		l.bad = append(l.bad, BadSample{index, err})
	}
}

// fill stores the sample at a position of the epoch in e, in slot s. A bad sample is handled as OnError says.
func (r *running) fill(w *worker, s *slot, e entry, position int) error {
	d := r.draw(position)
	if e.item != nil {
		e.item.draw = d
	}
	return r.handle(w, s, e, position, d, w.fill(e, d))
}

// handle handles err, with which the sample drawn as d failed, as OnError says.
func (r *running) handle(w *worker, s *slot, e entry, position int, d draw, err error) error {
	l := r.loader
	if err == nil || endsRun(err) {
		return err
	}
	if l.config.OnError == Fail {
		return badSampleError{err}
	}
	r.note(s, e.batch, d, err)
	if l.config.OnError == Skip {
		return err
	}
	if e.item != nil {
		e.item.onHost = true
	}
	random := random.NewRand(l.config.Seed^substituteStream, r.epoch, position)
	for range substitutes {
		d := r.draw(random.IntN(r.order.Len()))
		other := w.fill(e, d)
		if other == nil {
			s.substitute(e.batch)
			return nil
		} else if endsRun(other) {
			return other
		}
		r.note(s, e.batch, d, other)
	}
	return fmt.Errorf("%d samples drawn as substitutes are bad too: %w", substitutes, err)
}

// note lists a bad sample of b. The sample that the first entry is mixed with is counted in its own
// batch.
func (r *running) note(s *slot, b *Batch, d draw, err error) {
	if b == s.batch {
		r.loader.reportBad(d.sample, err)
	}
}

func (s *slot) substitute(b *Batch) {
	if b != s.batch {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.substituted++
}

// use calls do, which reads and processes one sample. A panic, and dataset memory that cannot be
// read, become errors that name the sample. If the cache's memory cannot be read, do is called again
// and reads the sample from the dataset.
func (w *worker) use(do func() error) error {
	defer w.freeInput()
	for {
		w.mark, w.cached, w.fetched = guard.Now(), nil, false
		err := guard.Do(func() error {
			if err := do(); err != nil {
				return err
			}
			return w.shortened()
		})
		if err == nil && guard.Quiet(w.mark) {
			return nil
		}
		err = w.diagnose(err)
		unreadable := new(guard.ReadError)
		if w.loader.cache == nil || !errors.As(err, &unreadable) || !w.loader.cache.Abandon(unreadable.File) {
			return w.loader.inPart(w.index, err)
		}
	}
}

// shortened returns an error if the sample's index could not be read, or if the file of the sample, the
// cache's or the dataset's, was cut meanwhile.
func (w *worker) shortened() error {
	err := w.loader.samples.CheckAt(w.mark, w.number)
	switch {
	case err != nil:
		return err
	case w.cached != nil:
		return w.loader.cache.Shortened()
	case w.fetched:
		return guard.SampleShortened(&w.sample)
	}
	return nil
}

// intact returns an error if what the worker has just read of the dataset is not what is stored.
func (w *worker) intact() error {
	if err := guard.CheckSample(w.mark, &w.sample); err != nil {
		return err
	}
	return guard.SampleShortened(&w.sample)
}

// diagnose finds the cause of err, with which the worker's sample failed.
func (w *worker) diagnose(err error) error {
	unreadable := guard.Check(w.mark, w.cached)
	if unreadable == nil && w.fetched {
		unreadable = guard.CheckSample(w.mark, &w.sample)
	}
	if unreadable == nil {
		unreadable = guard.Do(w.shortened)
	}
	if fault, ok := err.(*guard.ReadError); ok { //nolint:errorlint // only one without a sample's name
		unreadable = fault
	}
	panicked := errors.As(err, new(*guard.PanicError))
	if panicked || unreadable != nil { // zeros in the middle of a file can lead to a panic too
		w.renew()
	}
	switch {
	case unreadable != nil:
		return fmt.Errorf("read %s: %w", w.name(), unreadable)
	case panicked:
		return fmt.Errorf("%s: %w", w.name(), err)
	}
	return err
}

// name is the worker's sample in errors. The sample's own key may be in memory that cannot be read.
func (w *worker) name() string {
	in, err := w.loader.dataset.Info(w.index)
	if err != nil {
		return fmt.Sprintf("sample %d", w.index)
	}
	return fmt.Sprintf("sample %d, key %q", w.index, in.Key)
}

// renew replaces everything that a panic may have left inconsistent.
func (w *worker) renew() {
	held := w.loader.held
	_ = guard.Do(func() error { held.drop(w.decoder); return nil })
	w.decoder = held.decoder()
	w.stopBy(w.stop)
	w.runner, w.steps, w.sample = augment.Runner{}, nil, formats.Sample{}
	w.pixels, w.lent, w.masked = pixel.Image{}, pixel.Image{}, pixel.Image{}
}
