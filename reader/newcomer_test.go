package reader

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// TestZeroStateIsTheBeginning: State{Epoch: e} resumes at the beginning of epoch e.
func TestZeroStateIsTheBeginning(t *testing.T) {
	l := makeLoader(t, rawImages(11, 2, 2, 3), Config{BatchSize: 3, Shuffle: true, Seed: 7})
	for e := range 2 {
		var got []int
		s := State{Epoch: e}
		for b, err := range l.Resume(t.Context(), s) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Indices...)
		}
		if want := indices(collect(t, l, e)); len(got) != 11 || len(want) != 11 || got[0] != want[0] || got[10] != want[10] || l.Left(s) != l.Len() {
			t.Errorf("epoch %d: %v, want %v", e, got, want)
		}
		r, err := l.StartWith(t.Context(), RunOptions{State: s})
		if err != nil {
			t.Fatal(err)
		}
		r.Stop()
	}
	if err := l.CheckState(State{Position: 3}); !errors.Is(err, ErrState) {
		t.Errorf("a position without an order: %v", err)
	}
}

// TestLateBatch: a batch that is over panics with a sentence.
func TestLateBatch(t *testing.T) {
	one := makeLoader(t, rawImages(4, 2, 2, 3), Config{BatchSize: 2})
	var late *Batch
	for b, err := range one.Epoch(t.Context(), 0) {
		if late = b; err != nil {
			t.Fatal(err)
		}
	}
	func() {
		defer func() {
			if text, _ := recover().(string); !strings.Contains(text, "Label of a batch that is no longer valid") {
				t.Errorf("%q", text)
			}
		}()
		late.Label(0)
	}()
	if s := one.State(0, late); s.Position != 4 || late.N != 2 {
		t.Errorf("after a batch that is over: %+v", s)
	}
}

// breaking is a Dataset whose Read breaks the contract.
type breaking struct {
	formats.Dataset
	change func(s *formats.Sample)
}

func (d breaking) Read(i int, s *formats.Sample) error {
	err := d.Dataset.Read(i, s)
	d.change(s)
	return err
}

// TestDatasetBreaksItsContract: the error says what Read did wrong.
func TestDatasetBreaksItsContract(t *testing.T) {
	for want, change := range map[string]func(s *formats.Sample){
		"gave 0 values":   func(s *formats.Sample) { s.Values = nil },
		`the key "other"`: func(s *formats.Sample) { s.Key = "other" },
	} {
		l := makeLoader(t, rawImages(4, 2, 2, 3), Config{BatchSize: 2, Color: "rgb"})
		inner := l.dataset
		m, err := New(breaking{inner, change}, Config{BatchSize: 2})
		if err == nil {
			for _, failed := range m.Epoch(t.Context(), 0) {
				err = errors.Join(err, failed)
			}
			_ = m.Close()
		}
		if err == nil || errors.Is(err, io.EOF) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}
