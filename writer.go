package dsconv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/items"
)

// Writer packs samples that a program makes one after another, such as those of a crawler or a renderer. Images are resized
// and encoded by several goroutines, as Pack does. Its methods may be called from any goroutine; samples are in the dataset
// in the order of the calls, those of an LMDB or HDF5 in the order of their keys.
type Writer struct {
	requests chan request
	began    chan int // how many samples an earlier Writer has got
	ended    chan struct{}
	stop     context.CancelFunc
	resumed  int
	closing  sync.Once

	report *Report // once ended is closed
	err    error
}

// request is a sample, or what else is asked.
type request struct {
	sample *formats.Sample // nil for a checkpoint
	end    bool
	done   chan struct{} // closed when it is done
}

// NewWriter begins the dataset dst, whose samples have the fields of schema, or goes on with one that an interrupted Writer left
// there: Resumed says how many samples it has. o is as for Pack, but the source's options are not used; samples without a key
// get their number as key. Without o.Order tars and TFRecords have the samples in shuffled order, which takes a copy of
// all on the disk; convert.KeyOrder is the order of the calls.
func NewWriter(ctx context.Context, dst string, schema formats.Schema, o Options) (*Writer, error) {
	if err := schema.Validate(); err != nil {
		return nil, wrongOptions{err}
	}
	ctx, stop := context.WithCancel(ctx)
	w := &Writer{requests: make(chan request), began: make(chan int, 1), ended: make(chan struct{}), stop: stop}
	from := &requestSender{w: w, closed: make(chan struct{})}
	src := items.NewStream(&items.Header{Schema: schema, Length: -1, Resumes: true, Size: 64 << 10}, from)
	go func() {
		defer close(w.ended)
		defer stop()
		w.report, w.err = PackDataset(ctx, src, dst, o)
		w.err = errors.Join(w.err, src.Close())
	}()
	select {
	case w.resumed = <-w.began:
		return w, nil
	case <-w.ended:
		return nil, cmp.Or(w.err, fmt.Errorf("%s: %w: an interrupted Writer had all samples", dst, formats.ErrExists))
	}
}

// Resumed returns how many calls of Write an interrupted Writer has done. The program goes on after them.
func (w *Writer) Resumed() int { return w.resumed }

// Write adds a sample, with one value for each field. It keeps nothing of s. A bad image is skipped when it is its turn, and is in
// the report, as Options.OnError says; other errors end the Writer.
func (w *Writer) Write(s *formats.Sample) error {
	if s == nil {
		return errors.New("dsconv.Writer.Write: the sample is nil")
	}
	return w.ask(request{sample: s})
}

// Checkpoint makes the samples that were written durable: after a crash a Writer of the same dataset goes on from here.
func (w *Writer) Checkpoint() error { return w.ask(request{}) }

// Commit finishes the dataset and publishes it. The Report is never nil.
func (w *Writer) Commit() (*Report, error) {
	err := w.ask(request{end: true})
	<-w.ended
	return w.report, cmp.Or(err, w.err)
}

// Close ends the Writer. Before Commit it keeps what was written in DST.partial, for another Writer; after it, or a
// second time, it does nothing.
func (w *Writer) Close() error {
	var err error
	w.closing.Do(func() {
		w.stop()
		<-w.ended
		if w.err != nil && !errors.Is(w.err, context.Canceled) && !errors.Is(w.err, formats.ErrClosed) {
			err = w.err
		}
	})
	return err
}

func (w *Writer) ask(r request) error {
	r.done = make(chan struct{})
	select {
	case w.requests <- r:
	case <-w.ended:
		return w.failed()
	}
	select {
	case <-r.done:
		return nil
	case <-w.ended:
	}
	select { // both may be true
	case <-r.done:
		return nil
	default:
		return w.failed()
	}
}

func (w *Writer) failed() error {
	if w.err != nil {
		return w.err
	}
	return fmt.Errorf("dsconv.Writer: the dataset is complete: %w", formats.ErrClosed)
}

// requestSender gives a Writer's samples to a pack.
type requestSender struct {
	w       *Writer
	keeping chan struct{} // of the checkpoint that is being made
	closed  chan struct{}
	once    sync.Once
}

var _ items.Sender = (*requestSender)(nil)

// Next implements items.Sender.
func (s *requestSender) Next(to *formats.Sample) error {
	select {
	case <-s.closed:
		return fmt.Errorf("dsconv.Writer: %w", formats.ErrClosed)
	case r := <-s.w.requests:
		switch {
		case r.end:
			close(r.done)
			return formats.ErrEnd
		case r.sample == nil:
			s.keeping = r.done
			return &formats.Keep{}
		}
		to.Key, to.Split, to.Source = r.sample.Key, r.sample.Split, r.sample.Source
		to.Resize(len(r.sample.Values))
		for k := range r.sample.Values {
			to.Values[k].Set(r.sample.Values[k])
		}
		close(r.done)
		return nil
	}
}

// Begin implements items.Sender.
func (s *requestSender) Begin(samples int, _ []byte) error {
	s.w.began <- samples
	return nil
}

// Kept implements items.Sender.
func (s *requestSender) Kept(int) error {
	close(s.keeping)
	return nil
}

// Close implements items.Sender.
func (s *requestSender) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}
