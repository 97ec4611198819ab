package convert

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// note is what a checkpoint keeps of a run: how far it is in the plan and what it met.
type checkpoint struct {
	Fingerprint uint64    `json:"fingerprint"`
	Next        int       `json:"next"` // the position to go on from
	Written     int       `json:"written"`
	BytesIn     int64     `json:"bytes_in"`
	BytesOut    int64     `json:"bytes_out"`
	Skipped     []Skip    `json:"skipped,omitempty"`
	Warnings    []Warning `json:"warnings,omitempty"`
	Narrowed    []span    `json:"narrowed,omitempty"`
	Oriented    int       `json:"oriented,omitempty"`
	Tiling
	// Command began the unfinished dataset: whoever finds it is told.
	Command string `json:"command,omitempty"`
	Shape   []int  `json:"shape,omitempty"` // of the first raw image
	Varying bool   `json:"varying,omitempty"`
}

// span is positions From to To-1, whose images lost bits in the same way. Where one image loses
// some, most do: a list of paths would be as long as the dataset, in each checkpoint.
type span struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	How  string `json:"how"`
}

// narrow adds a position to the last span, or begins another.
func (n *checkpoint) addNarrowed(pos int, how string) {
	if k := len(n.Narrowed) - 1; k >= 0 && n.Narrowed[k].To == pos && n.Narrowed[k].How == how {
		n.Narrowed[k].To++
		return
	}
	n.Narrowed = append(n.Narrowed, span{From: pos, To: pos + 1, How: how})
}

// narrowed lists the images that lost bits.
func (r *run) narrowed() (list []Warning) {
	for _, s := range r.state.Narrowed {
		for pos := max(s.From, 0); pos < min(s.To, r.Len()); pos++ {
			path, err := r.pathAt(pos)
			if err != nil {
				path = fmt.Sprintf("image %d", pos)
			}
			list = append(list, Warning{Path: path, Cause: s.How})
		}
	}
	return list
}

// ErrContinue is returned for an unfinished dataset that cannot be gone on with: it is of
// another recipe, its source changed, or it is damaged. Options.Discard drops it.
var ErrCannotResume = errors.New("that this command cannot go on with")

func (n *checkpoint) encode() ([]byte, error) {
	b, err := json.Marshal(n)
	if err != nil {
		return nil, fmt.Errorf("encode a checkpoint: %w", err)
	}
	return b, nil
}

// decodeNote reads a checkpoint's note; without one the run is at its start.
func decodeCheckpoint(b []byte, fingerprint uint64) (checkpoint, error) {
	n := checkpoint{Fingerprint: fingerprint}
	if len(b) == 0 {
		return n, nil
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("%w: the last checkpoint does not parse: %w", formats.ErrDamaged, err)
	}
	return n, nil
}
