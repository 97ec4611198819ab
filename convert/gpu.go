package convert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// ErrNoGPU is in the chain of an error if images must be decoded on a GPU, and Options.GPU is nil.
var ErrNoGPU = errors.New("the recipe decodes on a GPU: open it by gpudecode.Open, and set Options.GPU")

const (
	// maxAsking is the most jobs that ask for the GPU at once: a batch that is decoded and one that waits.
	maxAsking = 128
	// askingBytes is about how many bytes of sources and results such jobs may have; at least minAsking jobs ask: half of
	// them are a batch, and the JPEG engine of an A100 decodes 5 images at once, those of later cards more.
	askingBytes = 64 << 20
	minAsking   = 32
	// decodedBytes is the most bytes of decoded images that wait to be processed.
	decodedBytes = 256 << 20
)

// batcher is a gpudecode.Batcher.
type batcher interface {
	preprocess.BatchDecoder
	Close()
}

// gpuStage decodes the images of jobs on the GPU, after they are read and before they are processed. The goroutines of
// the stage only wait, so there are many more of them than cores.
type gpuStage struct {
	decoder *preprocess.GPUDecoder
	batcher batcher
	room    *semaphore.Weighted // of decodedBytes
	pool    sync.Pool           // of *preprocess.Decoded
}

// setGPU sets how the plan decodes on a GPU, if its recipe does.
func (p *Plan) setGPU() error {
	gpu := p.o.GPU
	switch {
	case p.o.Recipe.Decoder != preprocess.DecoderGPU && gpu != nil:
		return errors.New("convert.New: Options.GPU is for a recipe with preprocess.DecoderGPU: set Recipe.Decoder, or leave out GPU")
	case p.o.Recipe.Decoder != preprocess.DecoderGPU:
		return nil
	case gpu == nil:
		return fmt.Errorf("%s: %w", p.Path, ErrNoGPU)
	}
	p.newBatcher = func(c gpudecode.BatcherConfig) (batcher, error) { return gpu.NewBatcher(c) }
	return nil
}

// setVersionGPU is setGPU for a new version, which needs no GPU if all its samples are ready. The GPU must be the one
// that decoded the others.
func (p *Plan) setVersionGPU() error {
	if p.o.Recipe.Decoder != preprocess.DecoderGPU || p.unready == 0 {
		return nil
	}
	if err := p.setGPU(); err != nil {
		return err
	}
	if err := p.o.Recipe.Device.Check(p.o.GPU.Info()); err != nil {
		return fmt.Errorf("%s: %w", p.Path, err)
	}
	return nil
}

// openGPU returns the GPU's stage, nil if the plan needs none.
func (r *run) openGPU() (*gpuStage, error) {
	if r.newBatcher == nil {
		return nil, nil
	}
	b, err := r.newBatcher(gpudecode.BatcherConfig{Bytes: preprocess.MaxGPUResult, Threads: r.o.Workers, Fast: r.o.Recipe.Decode == codec.Fast})
	if err != nil {
		return nil, err
	}
	d, err := preprocess.NewGPUDecoder(r.o.Recipe, r.schema, b)
	if err != nil {
		b.Close()
		return nil, err
	}
	s := &gpuStage{decoder: d, batcher: b, room: semaphore.NewWeighted(decodedBytes)}
	s.pool.New = func() any { return new(preprocess.Decoded) }
	return s, nil
}

func (s *gpuStage) close() {
	if s != nil {
		s.batcher.Close()
	}
}

// asking returns the number of jobs that ask for the GPU at once.
func (r *run) asking() int {
	if r.gpu == nil {
		return 0
	}
	return min(max(minAsking, int(askingBytes/r.jobBytes())), maxAsking)
}

// decodeAll decodes jobs and passes them on to be processed. Its error is not about one image.
func (r *run) decodeAll(ctx context.Context) error {
	for j := range r.decode {
		if j.err == nil && !r.isReady(r.order.at(j.pos)) {
			err := r.gpu.reserve(ctx, j)
			if err == nil && j.err == nil {
				err = r.gpu.decode(ctx, j)
			}
			if err != nil {
				return err
			}
		}
		r.process <- j
	}
	return nil
}

// reserve waits for room for the images of j. A panic is an error of the job alone.
func (s *gpuStage) reserve(ctx context.Context, j *job) error {
	var n int64
	j.err = guard.Do(func() error { n = min(s.decoder.Memory(&j.in), decodedBytes); return nil })
	if err := s.room.Acquire(ctx, n); err != nil {
		return err
	}
	j.decodedBytes = n
	return nil
}

// decode decodes the images of j. A panic is an error of the job alone.
func (s *gpuStage) decode(ctx context.Context, j *job) error {
	j.decoded = s.pool.Get().(*preprocess.Decoded)
	err := guard.Do(func() error { return s.decoder.Decode(ctx, &j.in, j.decoded) })
	if panicked := new(guard.PanicError); errors.As(err, &panicked) {
		j.err, j.decoded = err, nil // its state is unknown
		return nil
	}
	return err
}

// release frees the decoded images of j, and keeps what decoded them.
func (s *gpuStage) release(j *job) {
	j.outcomes = j.outcomes[:0]
	if s == nil {
		return
	}
	if j.decoded != nil {
		j.outcomes = append(j.outcomes, j.decoded.Outcomes()...)
		j.decoded.Drop()
		s.pool.Put(j.decoded)
		j.decoded = nil
	}
	s.room.Release(j.decodedBytes)
	j.decodedBytes = 0
}

// addDecoded counts what decoded the images of a sample that is written.
func (s *Results) addDecoded(outcomes []gpudecode.Outcome) {
	if len(outcomes) == 0 {
		return
	}
	if s.Decoded == nil {
		s.Decoded = &gpudecode.Counts{Reasons: map[string]int64{}}
	}
	for _, o := range outcomes {
		switch o.Path {
		case gpudecode.Engine:
			s.Decoded.Engine++
		case gpudecode.CUDA:
			s.Decoded.CUDA++
		case gpudecode.CPU:
			s.Decoded.CPU++
		}
		if o.Reason != "" {
			s.Decoded.Reasons[o.Reason]++
		}
	}
}

// fallback is the warning about a sample that failed on a faster path, "" if it did not. What a path cannot decode
// because of its kind is no failure.
func fallback(outcomes []gpudecode.Outcome) string {
	i := slices.IndexFunc(outcomes, func(o gpudecode.Outcome) bool { return !gpudecode.ByKind(o.Reason) })
	if i < 0 {
		return ""
	}
	by := "on the CPU"
	if outcomes[i].Path == gpudecode.CUDA {
		by = "by CUDA instead of the JPEG engine"
	}
	return fmt.Sprintf("decoded %s because the GPU failed (%s)", by, outcomes[i].Reason)
}
