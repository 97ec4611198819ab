package reader

import (
	"errors"
	"fmt"
)

// State is the progress in an epoch: enough to resume with exactly the samples that are left, with
// any number of workers and ranks and any batch size. Keep it as JSON beside the model's weights: write
// both to other files, and rename those.
//
// The zero State is the beginning of epoch 0, State{Epoch: e} that of epoch e; from the end of an epoch
// nothing is left. All ranks must resume from the same State: that of the last step that all have
// finished.
type State struct {
	Epoch int `json:"epoch"`
	// Position is the number of the epoch's samples that all ranks together have taken.
	Position int    `json:"position"`
	Seed     uint64 `json:"seed"`
	// Order is everything else that determines the epoch's order.
	Order string `json:"order"`
}

// ErrState is in the chain of the error for a State of another order than this Loader's: the number of
// samples, the split, the order and the seed are compared. Keys and transforms are not.
var ErrState = errors.New("the state belongs to another order")

// State is the State of an epoch after b, which may be over.
func (l *Loader) State(epoch int, b *Batch) State { return l.StateAt(epoch, b.End) }

// StateAt is the State of an epoch at a position that was a Batch's End.
func (l *Loader) StateAt(epoch, position int) State {
	return State{Epoch: epoch, Position: position, Seed: l.config.Seed, Order: l.orderName()}
}

// Left is the number of batches that Resume yields.
func (l *Loader) Left(s State) int { return l.rankBatches(s.Position).Batches() }

// CheckState returns the error that Resume would: it has ErrState in its chain.
func (l *Loader) CheckState(s State) error {
	if l == nil || l.dataset == nil {
		return errNotOpened
	}
	switch {
	case s.Epoch >= 0 && s == State{Epoch: s.Epoch}:
		return nil
	case s.Seed != l.config.Seed:
		return fmt.Errorf("%w: its seed is %d, the loader's is %d", ErrState, s.Seed, l.config.Seed)
	case s.Order != l.orderName():
		return fmt.Errorf("%w: its order is %q, the loader's is %q", ErrState, s.Order, l.orderName())
	case s.Epoch < 0:
		return fmt.Errorf("%w: epoch %d", ErrState, s.Epoch)
	case s.Position < 0 || s.Position > l.plan.Len():
		return fmt.Errorf("%w: position %d of %d", ErrState, s.Position, l.plan.Len())
	}
	return nil
}

// orderName identifies the order, apart from the seed.
func (l *Loader) orderName() string { return l.plan.String() + "; " + l.samples.String() + l.parts }
