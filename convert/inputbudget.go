package convert

import (
	"context"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
)

const (
	// minInputBytes and inputBytesEach decide the most bytes of large images of the source that are in memory at once: a
	// minimum, and more for more goroutines, which would wait for each other otherwise. A larger image is alone.
	minInputBytes  = 128 << 20
	inputBytesEach = 16 << 20
)

// limitInputs sets r.inputs for so many jobs and goroutines. What is small enough that all jobs may have one of that size is
// not counted. inputs is nil if all images of the plan are: then nobody asks for their sizes.
func (r *run) limitInputs(jobs, goroutines int) {
	limit := max(minInputBytes, int64(goroutines)*inputBytesEach)
	if inputs := budget.NewInputs(limit, max(1, limit/int64(jobs))); inputs.Counts(r.largest) {
		r.inputs = inputs
	}
}

// reserveInput waits until the sample of j may be read. It is called in the order of the jobs, so the sample that is
// committed next never waits for a later one.
func (r *run) reserveInput(ctx context.Context, j *job) (err error) {
	if r.inputs == nil {
		return nil
	}
	in, err := r.src.Info(r.order.at(j.pos))
	if err != nil {
		return nil //nolint:nilerr // reading it says so
	}
	j.inputBytes, err = r.inputs.Reserve(ctx, in.Size)
	return err
}

// releaseInput frees the memory of j's sample if that is large.
func (r *run) releaseInput(j *job) {
	r.budget.releaseFields(j)
	if j.inputBytes == 0 {
		return
	}
	dropValues(&j.in)
	dropValues(&j.out)
	r.inputs.Release(j.inputBytes)
	j.inputBytes = 0
}

// dropValues drops the values of s and their memory.
func dropValues(s *formats.Sample) {
	for k := range s.Values {
		s.Values[k] = formats.Value{}
	}
}
