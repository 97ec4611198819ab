package convert

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/pixelsum"
)

// checkpoint is the state of a run that a checkpoint stores: its position in the plan, and its results so far.
type checkpoint struct {
	Fingerprint uint64 `json:"fingerprint"`
	SourceList  uint64 `json:"source_list,omitempty"` // see Plan.listID
	Next        int    `json:"next"`                  // the position to resume from
	Results
	// SkippedSpans are what Results.Skipped lists in a Report.
	SkippedSpans []span `json:"skipped_spans,omitempty"`
	skips        int    // all images that were skipped
	Narrowed     []span `json:"narrowed,omitempty"`
	// KeptSpans are what Report.Kept lists.
	KeptSpans []span `json:"kept_spans,omitempty"`
	// Fallbacks are the images for which a GPU failed.
	Fallbacks []span `json:"fallbacks,omitempty"`
	// Source is the state of a growing source at a sample that was read before Next.
	Source []byte `json:"source,omitempty"`
	// Command started the unfinished dataset; messages name it.
	Command string `json:"command,omitempty"`
	Shape   []int  `json:"shape,omitempty"` // of the first raw image
	// Sums are of the pixels of each split, with Options.Stats.
	Sums map[string]*pixelsum.Sums `json:"sums,omitempty"`
}

// span is a range of positions, From to To-1, whose images were skipped, lost bits, or were decoded otherwise than planned, for
// the same cause. If one image of a dataset is, most may be: a list of paths would make each checkpoint as long as the dataset.
type span struct {
	From int    `json:"from"`
	To   int    `json:"to"`
	How  string `json:"how"`
}

// addPosition adds a position to the last span, or another span. How is "" if there is nothing to add.
func addPosition(spans []span, pos int, how string) []span {
	k := len(spans) - 1
	switch {
	case how == "":
		return spans
	case k >= 0 && spans[k].To == pos && spans[k].How == how:
		spans[k].To++
		return spans
	}
	return append(spans, span{From: pos, To: pos + 1, How: how})
}

// skipped lists the images that were skipped, first those of a checkpoint of an earlier version, which has a list.
func (r *run) skipped() []Problem {
	list := r.problems(r.state.SkippedSpans)
	for i := range list {
		list[i].Action = ActionSkipped
	}
	return slices.Concat(r.state.Skipped, list)
}

// problems lists the images of spans.
func (r *run) problems(spans []span) (list []Problem) {
	for _, s := range spans {
		for pos := max(s.From, 0); pos < min(s.To, r.Len()); pos++ {
			path, err := r.pathAt(pos)
			if err != nil {
				path = fmt.Sprintf("image %d", pos)
			}
			list = append(list, Problem{Path: path, Cause: s.How})
		}
	}
	return list
}

// ErrCannotResume is returned for an unfinished dataset that this plan cannot finish: it was
// packed with another recipe, its source changed, or it is damaged. Options.Discard drops it.
// errors.Is reports true for formats.ErrPartial too.
var ErrCannotResume error = cannotResumeError{}

// ErrSourceChanged is the ErrCannotResume of a source that has changed.
var ErrSourceChanged = fmt.Errorf("%w: the source has changed", ErrCannotResume)

type cannotResumeError struct{}

func (cannotResumeError) Error() string { return "cannot resume" }

func (cannotResumeError) Is(target error) bool { return target == formats.ErrPartial }

// decodeCheckpoint decodes a checkpoint. Without one the run is at its start.
func decodeCheckpoint(b []byte, fingerprint uint64) (checkpoint, error) {
	n := checkpoint{Fingerprint: fingerprint}
	if len(b) == 0 {
		return n, nil
	}
	if err := json.Unmarshal(b, &n); err != nil {
		return n, fmt.Errorf("%w: cannot read the last checkpoint: %w", formats.ErrDamaged, err)
	}
	n.skips = len(n.Skipped)
	for _, one := range n.SkippedSpans {
		n.skips += max(one.To-one.From, 0)
	}
	return n, nil
}
