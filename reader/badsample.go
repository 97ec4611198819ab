package reader

import (
	"fmt"

	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/reader/augment"
)

// OnError says what becomes of samples that cannot be read, decoded or transformed. What is no fault
// of theirs (preprocess.EndsRun) ends the epoch whatever it says.
type OnError string

const (
	// Fail ends the epoch with the error of the first bad sample, which names its key.
	Fail OnError = "fail"
	// Skip leaves bad samples out: Batch.N is smaller by Batch.Skipped. A batch of which
	// nothing is left fails.
	Skip OnError = "skip"
	// Substitute puts another sample of the epoch in the place of each bad one, always the
	// same for a seed: batches stay full.
	Substitute OnError = "substitute"
)

// ParseOnError reads "fail", "skip" or "substitute".
func ParseOnError(s string) (OnError, error) {
	switch o := OnError(s); o {
	case Fail, Skip, Substitute:
		return o, nil
	}
	return "", fmt.Errorf("on error %q: wanted %s, %s or %s", s, Fail, Skip, Substitute)
}

// substitutes are how many others are tried in the place of a bad sample. That many bad ones
// in a row are no accident.
const substitutes = 16

// BadSample is a sample that could not be used.
type BadSample struct {
	Index int // as Batch.Indices counts
	Err   error
}

// keepBad is how many bad samples a Loader remembers.
const keepBad = 1000

// Bad gives the number of times that a bad sample was skipped or replaced since the Loader was
// made, and the first thousand different samples.
func (l *Loader) Bad() (times int64, samples []BadSample) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.badTimes, append(samples, l.bad...)
}

// NoteBad counts sample i of the split, in order of key, among Bad's: it was read, but what the
// caller makes of it failed.
func (l *Loader) NoteBad(i int, err error) error {
	if i < 0 || i >= l.samples.Len() {
		return fmt.Errorf("sample %d: there are %d", i, l.samples.Len())
	}
	l.noteBad(i, err)
	return nil
}

func (l *Loader) noteBad(index int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.badTimes++
	for k := range l.bad {
		if l.bad[k].Index == index {
			return
		}
	}
	if len(l.bad) < keepBad {
		l.bad = append(l.bad, BadSample{index, err})
	}
}

// fill makes entry i of b, in the slot s, the sample at a position of the epoch, or, where that
// is bad, what OnError says.
func (r *Run) fill(w *worker, s *slot, b *Batch, i, position int) error {
	l := r.loader
	d := r.draw(position)
	err := w.fill(b, i, d)
	if err == nil || l.config.OnError == Fail || preprocess.EndsRun(err) {
		return err
	}
	r.note(s, b, d, err)
	if l.config.OnError == Skip {
		return err
	}
	random := augment.NewRand(l.config.Seed^substituteStream, r.epoch, position)
	for range substitutes {
		d := r.draw(random.IntN(r.order.Len()))
		other := w.fill(b, i, d)
		if other == nil {
			s.substitute(b)
			return nil
		} else if preprocess.EndsRun(other) {
			return other
		}
		r.note(s, b, d, other)
	}
	return fmt.Errorf("no substitute among %d samples: %w", substitutes, err)
}

// note remembers a bad sample of b. What a batch is only mixed with counts where it is at home.
func (r *Run) note(s *slot, b *Batch, d draw, err error) {
	if b == s.batch {
		r.loader.noteBad(d.sample, err)
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
