package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// note is what a checkpoint keeps of a run: how far it is in the plan and what it met.
type note struct {
	Fingerprint uint64    `json:"fingerprint"`
	Next        int       `json:"next"` // the position to go on from
	Written     int       `json:"written"`
	BytesIn     int64     `json:"bytes_in"`
	BytesOut    int64     `json:"bytes_out"`
	Skipped     []Skip    `json:"skipped,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
	Oriented    int       `json:"oriented,omitempty"`
	Tiling
	// Command began the unfinished dataset: whoever finds it is told.
	Command string `json:"command,omitempty"`
	Shape   []int  `json:"shape,omitempty"` // of the first raw image
	Varying bool   `json:"varying,omitempty"`
}

// ErrContinue is returned for an unfinished dataset that cannot be gone on with: it is of
// another recipe, its source changed, or it is damaged. Options.Discard drops it.
var ErrContinue = errors.New("that this command cannot go on with")

func (n *note) encode() ([]byte, error) {
	b, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode a checkpoint: %w", err)
	}
	return b, nil
}

// decodeNote reads a checkpoint's note; without one the run is at its start.
func decodeNote(b []byte, fingerprint uint64) (note, error) {
	n := note{Fingerprint: fingerprint}
	if len(b) == 0 {
		return n, nil
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("%w: the last checkpoint does not parse: %w", formats.ErrDamaged, err)
	}
	return n, nil
}
