package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
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
