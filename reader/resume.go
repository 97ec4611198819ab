package reader

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// State says how far a training has come in an epoch: enough to go on with exactly the samples
// that are left, with any number of workers and ranks and any batch size. It is made to be
// kept as JSON beside the model's weights.
type State struct {
	Epoch int `json:"epoch"`
	// Position is the number of the epoch's samples that all ranks together have taken.
	Position int    `json:"position"`
	Seed     uint64 `json:"seed"`
	// Order tells what else decides the epoch's order.
	Order string `json:"order"`
}

// ErrState is in the chain of the error of a State that is not of this Loader's order.
var ErrState = errors.New("the state is of another order")

// State is where an epoch stands after b, which is still valid.
func (l *Loader) State(epoch int, b *Batch) State { return l.StateAt(epoch, b.End) }

// StateAt is where an epoch stands at a position, which was a Batch's End.
func (l *Loader) StateAt(epoch, position int) State {
	return State{Epoch: epoch, Position: position, Seed: l.config.Seed, Order: l.orderName()}
}

// Resume ranges over what is left of the epoch, as Epoch does. ErrState is in the chain of
// its first error if s was not made by a Loader of the same samples, order and seed.
func (l *Loader) Resume(ctx context.Context, s State) iter.Seq2[*Batch, error] {
	if err := l.CheckState(s); err != nil {
		return func(yield func(*Batch, error) bool) { yield(nil, err) }
	}
	return l.from(ctx, s.Epoch, s.Position)
}

// Left is the number of batches that Resume gives.
func (l *Loader) Left(s State) int { return l.rankBatches(s.Position).Batches() }

// CheckState is the error that Resume would give: it has ErrState in its chain.
func (l *Loader) CheckState(s State) error {
	switch {
	case s.Seed != l.config.Seed:
		return fmt.Errorf("%w: its seed is %d, the loader's %d", ErrState, s.Seed, l.config.Seed)
	case s.Order != l.orderName():
		return fmt.Errorf("%w: it was %q, the loader's is %q", ErrState, s.Order, l.orderName())
	case s.Epoch < 0:
		return fmt.Errorf("%w: epoch %d", ErrState, s.Epoch)
	case s.Position < 0 || s.Position > l.plan.Len():
		return fmt.Errorf("%w: position %d of %d", ErrState, s.Position, l.plan.Len())
	}
	return nil
}

// orderName tells orders apart that differ in more than the seed.
func (l *Loader) orderName() string { return l.plan.String() + "; " + l.samples.String() }
