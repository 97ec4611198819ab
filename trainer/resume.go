package trainer

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/reader"
)

// training is one call of Run.
type training struct {
	trainer    *Trainer
	train, val Loader
	config     Config

	progress Progress
	unsaved  bool // the checkpoint is behind progress
}

// resume loads the checkpoint, if there is one.
func (r *training) resume() error {
	c := r.config.Checkpoint
	if c.Path == "" {
		return nil
	}
	if err := durable.Check(c.Path); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if c.Every < 0 {
		return fmt.Errorf("a checkpoint every %d steps: the number must not be negative", c.Every)
	}
	r.progress.Classes, r.progress.Recipe = r.train.Classes(), c.Recipe
	if c.Discard {
		return checkFolder(c.Path)
	}
	p, err := r.trainer.Load(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return checkFolder(c.Path)
	}
	if err != nil {
		return err
	}
	if d := p.differences(r.progress.Classes, c.Recipe); len(d) > 0 {
		return otherTraining(c.Path, d)
	}
	r.progress = p
	if c.OnResume != nil {
		c.OnResume(p)
	}
	return nil
}

// checkFolder reports early that a checkpoint could not be written to path.
func checkFolder(path string) error {
	dir := filepath.Dir(path)
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("not a folder")
	}
	if err != nil {
		return fmt.Errorf("checkpoint: the folder of %s: %w", path, err)
	}
	return nil
}

func (r *training) epochs(ctx context.Context) error {
	for len(r.progress.Epochs) < r.config.Epochs {
		if err := r.epoch(ctx); err != nil {
			return fmt.Errorf("epoch %d: %w", len(r.progress.Epochs)+1, errors.Join(err, r.save()))
		}
	}
	return nil
}

// epoch trains on what is left of the epoch, then evaluates.
func (r *training) epoch(ctx context.Context) error {
	batches := r.train.Epoch(ctx, len(r.progress.Epochs))
	if r.progress.Steps > 0 {
		batches = r.train.Resume(ctx, r.progress.State)
	}
	if err := r.trainer.pass(ctx, &r.trainer.train, batches, &r.progress.Running, r.stepped); err != nil {
		return fmt.Errorf("train: %w", r.withPath(err))
	}
	if r.progress.Running.Samples == 0 {
		return fmt.Errorf("train: %w", noBatch(r.train))
	}
	var val *Metrics
	if r.val != nil {
		m, err := r.trainer.Evaluate(ctx, r.val)
		if err != nil {
			return err
		}
		val = &m
	}
	r.progress.finish(val)
	r.unsaved = true
	if r.config.OnEpoch != nil {
		r.config.OnEpoch(r.progress.Epochs[len(r.progress.Epochs)-1])
	}
	return r.save()
}

// withPath names the checkpoint in the error of a loader that cannot resume from it.
func (r *training) withPath(err error) error {
	if errors.Is(err, reader.ErrState) {
		return fmt.Errorf("%w: %s: %w", ErrCheckpoint, r.config.Checkpoint.Path, err)
	}
	return err
}

// stepped counts the step on b, and writes a checkpoint if it is time.
func (r *training) stepped(b *reader.Batch) error {
	p := &r.progress
	p.Steps++
	r.unsaved = true
	p.State = r.train.State(len(p.Epochs), b)
	if every := r.config.Checkpoint.Every; every == 0 || p.Steps%every != 0 {
		return nil
	}
	start := time.Now()
	err := r.save()
	p.Running.Checkpoint += time.Since(start)
	return err
}

// save writes a checkpoint if there is something new and the weights are usable.
func (r *training) save() error {
	path := r.config.Checkpoint.Path
	if path == "" || !r.unsaved || r.trainer.failed {
		return nil
	}
	r.unsaved = false // a write that fails is not repeated
	return r.trainer.Save(path, r.progress)
}
