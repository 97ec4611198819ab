package reader

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
)

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
