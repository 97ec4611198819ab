package convert

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/dsconv/dsconv/formats"
)

func (r *run) commitAll(ctx context.Context) error {
	defer func() {
		r.room.Release()
		if r.deferredProc != nil {
			r.deferredProc.Close()
		}
	}()
	for {
		start := time.Now()
		j, ok := <-r.ordered
		if !ok {
			return ctx.Err()
		}
		r.budget.setNext(j)
		if err := ctx.Err(); err != nil { // a job that is done as well would be chosen now and then
			return err
		}
		if err := r.wait(ctx, j); err != nil {
			return err
		}
		if r.growing != nil && errors.Is(j.err, formats.ErrEnd) {
			r.ended.CompareAndSwap(0, int64(j.pos)+1)
			r.releaseInput(j)
			r.idle <- j
			continue
		}
		if j.deferred {
			if err := r.processDeferred(ctx, j); err != nil {
				return err
			}
		}
		r.waitNS += int64(time.Since(start))
		if err := r.timedWrite(func() error { return r.commit(j) }); err != nil {
			return err
		}
		if r.o.Recipe.Passthrough() || r.isReady(r.order.at(j.pos)) {
			// The Processor swapped the buffers. Swap them back, so that a job needs memory for one image.
			j.out.SwapValues(&j.in)
		}
		r.budget.release(j)
		r.room.Release()
		r.releaseInput(j)
		r.idle <- j
		if err := r.timedWrite(r.keep); err != nil {
			return err
		}
		if err := r.showProgress(false); err != nil {
			return err
		}
	}
}

func (r *run) timedWrite(f func() error) error {
	start := time.Now()
	err := f()
	r.writeNS += int64(time.Since(start))
	return err
}

// startFile makes file the current file of the output, and keeps the kept files before it.
func (r *run) startFile(file int) error {
	if file == r.file {
		return nil
	}
	if c, ok := r.w.(formats.ShardEnder); ok && r.file >= 0 {
		if err := c.EndShard(); err != nil {
			return err
		}
	}
	if err := r.keepFilesBefore(file); err != nil {
		return err
	}
	r.file = file
	return nil
}

// keepFilesBefore tells the writer to keep the kept files between the current file and end.
func (r *run) keepFilesBefore(end int) error {
	for i := r.file + 1; i < end; i++ {
		if !r.files[i].keep {
			continue
		}
		k, ok := r.w.(formats.FileReuser)
		if !ok {
			return fmt.Errorf("%s: a dataset of the format %s cannot keep single files", r.Path, r.format.Name())
		}
		if err := k.ReuseFile(i, r.change); err != nil {
			return err
		}
	}
	return nil
}

// commit writes the sample of j, or lists it as skipped.
func (r *run) commit(j *job) error {
	path, err := r.pathOf(j)
	if err == nil && j.err != nil {
		err = r.handleBad(j, path)
	}
	if err != nil {
		return err
	}
	r.unsure = true
	if err := r.startFile(r.fileOf(j.pos, max(r.file, 0))); err != nil {
		return err
	}
	if j.err == nil {
		if err := r.write(j, path); err != nil {
			return err
		}
	}
	r.state.Next, r.unsure = j.pos+1, false
	return nil
}

func (r *run) write(j *job, path string) error {
	if err := r.w.Write(&j.out); err != nil {
		return fmt.Errorf("write %s to %s: %w", path, r.Path, err)
	}
	r.state.Written++
	r.state.BytesIn += j.bytesIn
	img := &j.out.Values[r.schema.ImageIndex()]
	r.state.BytesOut += int64(len(img.Data))
	if r.state.Shape == nil {
		r.state.Shape = slices.Clone(img.Shape)
	}
	r.state.Varying = r.state.Varying || !slices.Equal(r.state.Shape, img.Shape)
	if j.warning != "" {
		r.state.Warnings = append(r.state.Warnings, Problem{Path: path, Cause: r.nameFile(j.pos, j.warning)})
	}
	r.state.Narrowed = addPosition(r.state.Narrowed, j.pos, j.narrowed)
	r.state.Fallbacks = addPosition(r.state.Fallbacks, j.pos, fallback(j.outcomes))
	if j.orientation > 1 {
		r.state.Oriented++
	}
	r.addSums(j)
	r.state.addTiled(j.tiled, j.untiled)
	r.state.addDecoded(j.outcomes)
	return nil
}

// pathOf returns the name of j's sample for messages: its source path, or its key.
func (r *run) pathOf(j *job) (string, error) {
	if j.err == nil && j.in.Source.Path != "" {
		return j.in.Source.Path, nil
	}
	return r.pathAt(j.pos)
}

// pathAt is pathOf for the sample at a position of the plan.
func (r *run) pathAt(pos int) (string, error) {
	in, err := r.src.Info(r.order.at(pos))
	if err != nil {
		return "", err
	}
	return cmp.Or(in.Source.Path, in.Key), nil
}

// keep makes a checkpoint where the plan has one, and keeps what was written once a while has passed without.
func (r *run) keep() error {
	switch {
	case r.state.Next == r.Len(), r.interval == neverKept:
		return nil
	case r.state.Next%r.interval == 0:
		return r.keepBy(r.w.Checkpoint)
	case time.Since(r.keptAt) >= r.saveEvery:
		return r.save()
	}
	return nil
}

// save keeps what was written without a change to the dataset's bytes: a checkpoint, if those do not depend on it.
func (r *run) save() error {
	err := r.keepBy(r.checkpointer())
	if _, ok := r.w.(formats.Saver); ok && err != nil {
		r.keptAt, err = time.Now(), nil // what is lost is a safeguard: the dataset can still be written
	}
	return err
}

// checkpointer returns the method of the writer that makes samples durable without a change to the bytes.
func (r *run) checkpointer() func(note []byte) error {
	if s, ok := r.w.(formats.Saver); ok {
		return s.Save
	}
	return r.w.Checkpoint
}

// saveAtStop keeps what was written before the run stopped, unless the writer failed or nothing can be resumed.
func (r *run) saveAtStop() error {
	if r.unsure || r.state.Next == r.kept || r.interval == neverKept {
		return nil
	}
	return r.timedWrite(r.save)
}

func (r *run) keepBy(checkpoint func(note []byte) error) error {
	b, err := json.Marshal(&r.state)
	if err != nil {
		return fmt.Errorf("encode a checkpoint: %w", err)
	}
	if err := checkpoint(b); err != nil {
		return err
	}
	r.kept, r.keptAt = r.state.Next, time.Now()
	return nil
}
