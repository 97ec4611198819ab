package convert

import "slices"

// skippedSpan is a range of positions whose images were skipped for the same cause. An archive of a million empty members has
// a million such images: a list of their paths in each checkpoint would take longer than the pack, and gigabytes.
type skippedSpan struct {
	span
	Action Action `json:"action"`
}

// addSkipped adds a position to the images that were skipped.
func (s *checkpoint) addSkipped(pos int, cause string, action Action) {
	s.skips++
	if k := len(s.SkippedSpans) - 1; k >= 0 {
		if last := &s.SkippedSpans[k]; last.To == pos && last.How == cause && last.Action == action {
			last.To++
			return
		}
	}
	s.SkippedSpans = append(s.SkippedSpans, skippedSpan{span{From: pos, To: pos + 1, How: cause}, action})
}

// countSkipped counts the images that a checkpoint says were skipped.
func (s *checkpoint) countSkipped() {
	s.skips = len(s.Skipped)
	for _, one := range s.SkippedSpans {
		s.skips += max(one.To-one.From, 0)
	}
}

// skipped lists the images that were skipped, first those of a checkpoint of an earlier version, which has a list.
func (r *run) skipped() []Problem {
	list := slices.Clip(r.state.Skipped)
	if n := r.state.skips - len(list); n > 0 && n <= r.Len() {
		list = slices.Grow(list, n)
	}
	for _, s := range r.state.SkippedSpans {
		for _, one := range r.problems([]span{s.span}) {
			one.Action = s.Action
			list = append(list, one)
		}
	}
	return list
}
