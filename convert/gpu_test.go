package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/gpudecode"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

var errLost = errors.New("the GPU is lost")

// fakeBatcher gives the CPU's pixels.
type fakeBatcher struct {
	mu      sync.Mutex
	changed *sync.Cond
	asked   int
	decoder inner.Decoder
	resizer resample.Resampler

	lastKey string                          // its request waits until the GPU is lost
	lost    bool                            // the GPU is
	holdFor int                             // the first sample's request waits until there were so many
	outcome func(*gpudecode.Request) string // why an image is left to the CPU, "" if it is not
}

func newFake() *fakeBatcher {
	b := new(fakeBatcher)
	b.changed = sync.NewCond(&b.mu)
	return b
}

func (b *fakeBatcher) Decode(ctx context.Context, r *gpudecode.Request, dst *pixel.Image) (gpudecode.Outcome, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.asked++
	b.changed.Broadcast()
	for b.is(r, "00000000") && b.asked < b.holdFor || b.lastKey != "" && b.is(r, b.lastKey) && !b.lost {
		b.changed.Wait()
	}
	if err := ctx.Err(); err != nil {
		return gpudecode.Outcome{}, err
	}
	if b.lost {
		return gpudecode.Outcome{}, errLost
	}
	reason := ""
	if b.outcome != nil {
		reason = b.outcome(r)
	}
	var whole pixel.Image
	if err := b.decoder.Decode(&whole, &formats.Value{Data: r.JPEG}, inner.DecodeOptions{Color: pixel.ColorRGB}); err != nil && reason == "" {
		reason = gpudecode.ReasonIrregular
	}
	if reason != "" {
		err := r.CPU()
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: reason, Err: err}, err
	}
	return gpudecode.Outcome{Path: gpudecode.CUDA}, b.resizer.Resize(dst, &whole, pixel.Rect{}, r.W, r.H, r.Filter)
}

// is reports whether a request is for a sample of newMemory whose number begins with digits.
func (*fakeBatcher) is(r *gpudecode.Request, digits string) bool {
	return strings.HasPrefix(string(r.JPEG[6:]), digits)
}

// lose loses the GPU.
func (b *fakeBatcher) lose() {
	b.mu.Lock()
	b.lost = true
	b.mu.Unlock()
	b.changed.Broadcast()
}

func (b *fakeBatcher) Close() { b.decoder.Close() }

var h200 = preprocess.Device{Card: "NVIDIA H200", NVJPEG: "13.3.2", Engine: true}

// gpuPlan is plan with a GPU for which b stands.
func gpuPlan(t *testing.T, src formats.Dataset, f formats.WritableFormat, path string, o Options, d preprocess.Device, b *fakeBatcher) *Plan {
	t.Helper()
	p := plan(t, src, f, path, o)
	p.o.Recipe.Decoder, p.o.Recipe.Device = preprocess.DecoderGPU, d
	p.newBatcher = func(gpudecode.BatcherConfig) (batcher, error) { return b, nil }
	p.Meta.Recipe = p.recipe()
	return p
}

// lostPlan is gpuPlan with a GPU that is lost after 150 of at least 200 samples were written.
func lostPlan(t *testing.T, src formats.Dataset, f formats.WritableFormat, path string, o Options) *Plan {
	t.Helper()
	b := newFake()
	p := gpuPlan(t, src, stopper{f, 150, b.lose}, path, o, h200, b)
	p.interval, b.lastKey = 10, fmt.Sprintf("%08d", p.order.at(190))
	return p
}

// images are the images of a dataset by key.
func images(t *testing.T, f formats.Format, path string) map[string]string {
	t.Helper()
	ds, err := f.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	all := map[string]string{}
	var s formats.Sample
	for i := range ds.Len() {
		if err := ds.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		all[s.Key] = string(s.Values[0].Data)
	}
	return all
}

// A pack on a GPU writes the same bytes with any number of workers, in the same order and with the same report as on
// the CPU. What is damaged is the CPU's to say.
func TestGPUPacksTheSameSamples(t *testing.T) {
	src := newMemory(t, 300, 11)
	dir := t.TempDir()
	o := Options{Recipe: resized, MaxSkipped: "27"}
	cpu, err := plan(t, src, tfrecord.Format{}, filepath.Join(dir, "cpu.tfrecord"), o).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var first map[string]string
	for _, workers := range []int{1, 2, 7} {
		o.Workers, o.IOWorkers = workers, workers
		at := filepath.Join(t.TempDir(), "x.tfrecord")
		r, err := gpuPlan(t, src, tfrecord.Format{}, at, o, h200, newFake()).Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		want := &gpudecode.Counts{CUDA: 273, Reasons: map[string]int64{}}
		if r.Written != 273 || !reflect.DeepEqual(r.Skipped, cpu.Skipped) || !reflect.DeepEqual(r.Decoded, want) || len(r.Warnings) > 0 || cpu.Decoded != nil {
			t.Fatalf("%d workers: written %d, skipped %v, decoded %+v, warnings %v", workers, r.Written, r.Skipped, r.Decoded, r.Warnings)
		}
		if !maps.Equal(images(t, tfrecord.Format{}, at), images(t, tfrecord.Format{}, cpu.Path)) {
			t.Error("other images than on the CPU")
		}
		tree := formatcheck.Tree(t, filepath.Dir(at))
		if first == nil {
			first = tree
		}
		if !maps.Equal(tree, first) {
			t.Errorf("%d workers: other bytes", workers)
		}
	}
}

// If the GPU is lost in the middle the run ends with its error, no image is skipped for it, and a repeated run resumes
// and writes the bytes of an undisturbed one.
func TestLostGPUEndsTheRun(t *testing.T) {
	src := newMemory(t, 300, 11)
	o := Options{Recipe: resized, Shards: Sharding{Count: 3}, Workers: 3, IOWorkers: 3, MaxSkipped: "27"}
	whole, dir := t.TempDir(), t.TempDir()
	undisturbed, err := gpuPlan(t, src, shard.Format{}, filepath.Join(whole, "x-%02d.tar"), o, h200, newFake()).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "x-%02d.tar")
	r, err := lostPlan(t, src, shard.Format{}, path, o).Run(t.Context())
	if !errors.Is(err, errLost) || r.Failed > 0 || r.Failure != nil || r.Found != r.Written+len(r.Skipped)+r.NotReached {
		t.Fatalf("%v: %+v", err, r)
	}
	if r, err = gpuPlan(t, src, shard.Format{}, path, o, h200, newFake()).Run(t.Context()); err != nil || r.Resumed < 140 {
		t.Fatalf("%v: resumed at %d", err, r.Resumed)
	}
	if !maps.Equal(formatcheck.Tree(t, dir), formatcheck.Tree(t, whole)) || !reflect.DeepEqual(r.Results, undisturbed.Results) {
		t.Errorf("other bytes, or another report: %+v, undisturbed %+v", r.Results, undisturbed.Results)
	}
}

// An unfinished dataset is resumed only on its GPU and with its library.
func TestAnotherGPUIsRefused(t *testing.T) {
	src := newMemory(t, 300, 0)
	o := Options{Recipe: resized}
	path := filepath.Join(t.TempDir(), "x.tfrecord")
	if _, err := lostPlan(t, src, tfrecord.Format{}, path, o).Run(t.Context()); !errors.Is(err, errLost) {
		t.Fatal(err)
	}
	for want, d := range map[string]preprocess.Device{
		`card was "NVIDIA H200", now "NVIDIA A100"`: {Card: "NVIDIA A100", NVJPEG: "13.3.2", Engine: true},
		`nvjpeg was "13.3.2", now "13.4.0"`:         {Card: "NVIDIA H200", NVJPEG: "13.4.0", Engine: true},
		`jpeg-engine was "true", now ""`:            {Card: "NVIDIA H200", NVJPEG: "13.3.2"},
	} {
		_, err := gpuPlan(t, src, tfrecord.Format{}, path, o, d, newFake()).Run(t.Context())
		if !errors.Is(err, ErrCannotResume) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
	_, err := plan(t, src, tfrecord.Format{}, path, o).Run(t.Context())
	if !errors.Is(err, ErrCannotResume) || !strings.Contains(err.Error(), `decoder was "gpu"`) {
		t.Error(err)
	}
	if _, err := gpuPlan(t, src, tfrecord.Format{}, path, o, h200, newFake()).Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// What the GPU failed to decode is decoded on the CPU, counted and named in the report; what it does not decode by its
// kind is counted only.
func TestFallbacksAreReported(t *testing.T) {
	src := newMemory(t, 100, 0)
	b := newFake()
	b.outcome = func(r *gpudecode.Request) string {
		switch {
		case b.is(r, "0000001"):
			return "EXECUTION_FAILED"
		case b.is(r, "0000002"):
			return gpudecode.ReasonKind
		}
		return ""
	}
	r, err := gpuPlan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized}, h200, b).Run(t.Context())
	want := &gpudecode.Counts{CUDA: 80, CPU: 20, Reasons: map[string]int64{"EXECUTION_FAILED": 10, gpudecode.ReasonKind: 10}}
	if err != nil || r.Written != 100 || !reflect.DeepEqual(r.Decoded, want) {
		t.Fatalf("%v: written %d, decoded %+v", err, r.Written, r.Decoded)
	}
	if len(r.Warnings) != 10 || !strings.Contains(r.Warnings[0].Cause, "EXECUTION_FAILED") || len(r.Table()) != 10 {
		t.Errorf("%+v", r.Warnings)
	}
}

// Results that are far larger than their files wait to be written in limited memory: those behind a slow image are
// decoded again when it is their turn.
func TestLargeResultsOfAGPU(t *testing.T) {
	src := newMemory(t, 80, 0)
	o := Options{Workers: 8, IOWorkers: 8, Recipe: preprocess.Recipe{
		Resize: preprocess.Resize{Mode: preprocess.ResizeExact, W: 700, H: 700}, Encode: codec.EncodeOptions{Encoding: formats.Raw},
	}}
	dir := t.TempDir()
	if _, err := plan(t, src, tfrecord.Format{}, filepath.Join(dir, "cpu.tfrecord"), o).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	b := newFake()
	b.holdFor = 55
	if _, err := gpuPlan(t, src, tfrecord.Format{}, filepath.Join(dir, "gpu.tfrecord"), o, h200, b).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(images(t, tfrecord.Format{}, filepath.Join(dir, "gpu.tfrecord")), images(t, tfrecord.Format{}, filepath.Join(dir, "cpu.tfrecord"))) {
		t.Error("other images than on the CPU")
	}
}

// A run that is cancelled while images wait for the GPU ends.
func TestCancelledOnTheGPU(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	b := newFake()
	b.outcome = func(*gpudecode.Request) string { cancel(); return "" }
	_, err := gpuPlan(t, newMemory(t, 300, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized}, h200, b).Run(ctx)
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// A panic while an image's header is read is an error of that image.
func TestPanicBeforeTheGPU(t *testing.T) {
	b := newFake()
	b.outcome = func(r *gpudecode.Request) string {
		if b.is(r, "00000007") {
			panic("a header")
		}
		return ""
	}
	r, err := gpuPlan(t, newMemory(t, 100, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized}, h200, b).Run(t.Context())
	if err != nil || r.Written != 99 || len(r.Skipped) != 1 || r.Skipped[0].Path != "k00007.jpg" {
		t.Errorf("%v: written %d, skipped %+v", err, r.Written, r.Skipped)
	}
}

// Options that decode on a GPU need one, and no others may have it.
func TestPlansNeedTheirGPU(t *testing.T) {
	src, recipe := newMemory(t, 3, 0), resized
	recipe.Decoder = preprocess.DecoderGPU
	_, err := New(t.Context(), src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: recipe})
	if !errors.Is(err, ErrOptions) || !errors.Is(err, ErrNoGPU) {
		t.Error(err)
	}
	_, err = New(t.Context(), src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized, GPU: new(gpudecode.GPU)})
	if !errors.Is(err, ErrOptions) {
		t.Error(err)
	}
}

// A sample that was deferred is decoded on the GPU again when it is its turn.
func TestDeferredSampleOfAGPU(t *testing.T) {
	b, src := newFake(), newMemory(t, 1, 0)
	p := gpuPlan(t, src, tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized}, h200, b)
	r := &run{Plan: p, schema: src.Meta().Schema}
	r.budget.changed.L = &r.budget.mu
	var err error
	if r.gpu, err = r.openGPU(); err != nil {
		t.Fatal(err)
	}
	defer r.gpu.close()
	j := &job{deferred: true}
	err = r.processDeferred(t.Context(), j)
	if err != nil || j.err != nil || len(j.outcomes) != 1 || j.outcomes[0].Path != gpudecode.CUDA || j.decoded != nil || len(j.out.Values[0].Data) == 0 {
		t.Errorf("%v, %v: %+v", err, j.err, j.outcomes)
	}
	b.lose()
	if err := r.processDeferred(t.Context(), &job{deferred: true}); !errors.Is(err, errLost) {
		t.Error(err)
	}
	r.deferredProc.Close()
}

// Large images are decoded in batches that keep a JPEG engine busy, too.
func TestManyLargeImagesAskForAGPU(t *testing.T) {
	p := gpuPlan(t, newMemory(t, 100, 0), tfrecord.Format{}, filepath.Join(t.TempDir(), "x.tfrecord"), Options{Recipe: resized}, h200, newFake())
	p.Bytes, p.expectedBytes = 100*4<<20, 100*4<<20 // of photos
	if n := (&run{Plan: p, gpu: new(gpuStage)}).asking(); n < 2*8 {
		t.Errorf("%d images ask for the GPU at once, of which half are decoded together", n)
	}
}
