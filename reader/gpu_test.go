package reader

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/order"
)

// onCPU is an imageDecoder without a GPU. It counts its memory.
type onCPU struct {
	config  gpudecode.Config
	options gpudecode.Options
	refuse  func(jpeg []byte) bool // leaves it to Image.CPU
	fail    func() error           // of a whole batch
	wait    func(context.Context)  // before a batch

	decoder   *codec.Decoder
	resampler resample.Resampler
	mu        sync.Mutex
	decoding  bool
	lent      int // memory that is not released
	closed    bool
}

// hostMemory is memory of onCPU.
type hostMemory struct {
	from  *onCPU
	bytes []byte
	once  sync.Once
}

func (m *hostMemory) Release() {
	m.once.Do(func() {
		m.from.mu.Lock()
		defer m.from.mu.Unlock()
		m.from.lent--
		for i := range m.bytes {
			m.bytes[i] = 0xAA // for whoever reads it now
		}
	})
}

func (d *onCPU) Memory() (deviceMemory, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lent++
	return &hostMemory{from: d, bytes: bytes.Repeat([]byte{0x55}, d.config.Bytes)}, nil
}

func (d *onCPU) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return errors.New("closed twice")
	}
	d.closed = true
	d.decoder.Close()
	return nil
}

// alone panics if two batches are decoded at once.
func (d *onCPU) alone(decoding bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed || decoding && d.decoding {
		panic("the decoder is closed, or used twice at once")
	}
	d.decoding = decoding
}

func (d *onCPU) Decode(ctx context.Context, images []gpudecode.Image, to deviceMemory, outcomes []gpudecode.Outcome) error {
	d.alone(true)
	defer d.alone(false)
	if d.wait != nil {
		d.wait(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(images) > d.config.Batch || len(outcomes) != len(images) {
		return fmt.Errorf("%d images and %d outcomes for %d", len(images), len(outcomes), d.config.Batch)
	}
	if d.fail != nil {
		if err := d.fail(); err != nil {
			return err
		}
	}
	for i := range images {
		outcomes[i] = d.decode(&images[i], to.(*hostMemory).bytes)
	}
	return nil
}

func (d *onCPU) decode(m *gpudecode.Image, to []byte) gpudecode.Outcome {
	if m.JPEG == nil {
		copy(to[m.At:], m.Ready)
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: m.Reason}
	}
	size := m.Region.W * m.Region.H * d.config.Spec.Channels() * d.config.Spec.DType().Size()
	dst := to[m.At:][:size:size]
	if d.refuse != nil && d.refuse(m.JPEG) {
		result := make([]byte, size)
		o := gpudecode.Outcome{Path: gpudecode.CPU, Reason: "refused", Err: m.CPU(result)}
		copy(dst, result)
		return o
	}
	if err := d.store(m, dst); err != nil {
		return gpudecode.Outcome{Path: gpudecode.Engine, Err: err}
	}
	return gpudecode.Outcome{Path: gpudecode.Engine}
}

// store decodes, crops, resizes and stores m as a GPU does.
func (d *onCPU) store(m *gpudecode.Image, dst []byte) error {
	color := map[int]pixel.Color{1: pixel.ColorGray, 3: pixel.ColorRGB}[d.config.Spec.Channels()]
	var whole, window pixel.Image
	v := formats.Value{Data: m.JPEG, Encoding: formats.JPEG}
	if err := d.decoder.Decode(&whole, &v, codec.DecodeOptions{Color: color}); err != nil {
		return err
	}
	if err := whole.Crop(&window, m.Window); err != nil {
		return err
	}
	t := resample.Target{Spec: d.config.Spec, Region: m.Region, Flip: m.Flip, FlipV: m.FlipV}
	switch d.config.Spec.DType() {
	case formats.Uint8:
		t.Uint8 = dst
	case formats.Float32:
		t.Float32 = Elements[float32](dst)
	default:
		t.Half = Elements[uint16](dst)
	}
	return d.resampler.ResizeTo(t, &window, pixel.Rect{}, m.W, m.H, m.Filter)
}

// gpuLoader makes a Loader that decodes on d.
func gpuLoader(t testing.TB, ds formats.Dataset, c Config, d *onCPU) *Loader {
	t.Helper()
	c.Decoder = DecodeOnGPU
	return loaderOf(t, ds, c, func(o gpudecode.Options, config gpudecode.Config, _ int) ([]imageDecoder, gpudecode.Info, error) {
		d.config, d.options, d.decoder = config, o, codec.NewDecoder()
		return []imageDecoder{d}, gpudecode.Info{Card: "a test's"}, nil
	})
}

// loaderOf makes a Loader that decodes on what open opens.
func loaderOf(t testing.TB, ds formats.Dataset, c Config, open openFunc) *Loader {
	t.Helper()
	openDecoders = open
	defer func() { openDecoders = openGPU }()
	return makeLoader(t, ds, c)
}

// deviceBytes is the memory of b's images, as it is now.
func deviceBytes(b *Batch) []byte { return b.device.(*hostMemory).bytes }

// sameOnGPU compares what c's batches are, decoded on d and finished, with those of the CPU.
func sameOnGPU(t *testing.T, ds formats.Dataset, c Config, epoch int, d *onCPU) Stats {
	t.Helper()
	return becomes(t, collect(t, makeLoader(t, ds, c), epoch), ds, c, epoch, d)
}

// becomes compares c's batches, decoded on d and finished, with want.
func becomes(t *testing.T, want []*Batch, ds formats.Dataset, c Config, epoch int, d *onCPU) Stats {
	t.Helper()
	l := gpuLoader(t, ds, c, d)
	k := 0
	for b, err := range l.Epoch(t.Context(), epoch) {
		if err != nil {
			t.Fatal(err)
		}
		sameRest(t, b, want[k])
		if b.Shape != want[k].Shape || b.DType != want[k].DType || Pixels[uint8](&Batch{DType: formats.Uint8, images: b.ImageBytes()}) != nil {
			t.Fatalf("batch %d: %v of %s, images on the host: %d bytes", k, b.Shape, b.DType, len(b.ImageBytes()))
		}
		for view := range b.Views() {
			f := &l.frame
			n := b.N
			if b.Rest[view].Mixing != nil {
				n++
			}
			images := deviceBytes(b)[f.viewOffset(view):][:n*f.viewEntryBytes(view)]
			if !bytes.Equal(finished(t, l, b, view, images), want[k].ViewBytes(view)) {
				t.Fatalf("batch %d of %d: view %d differs", k, len(want), view)
			}
		}
		k++
	}
	if k != len(want) {
		t.Fatalf("%d batches, want %d", k, len(want))
	}
	if d.lent != 0 {
		t.Errorf("memory of %d batches was not released", d.lent)
	}
	checkSingles(t, l, want)
	return l.Stats()
}

// TestGPUBatchesAreTheSame as on the CPU: all ops, types and layouts, and images that a GPU is not for among them.
func TestGPUBatchesAreTheSame(t *testing.T) {
	ds := manyEncodings(t, 17)
	for _, text := range allTransforms() {
		for _, d := range allTypes() {
			c := Config{BatchSize: 5, Workers: 2, Seed: 3, Shuffle: true, DType: d, Transforms: parsed(t, text)}
			if _, err := augment.CompileEach(c.Transforms, 3, d, pixel.NHWC); err != nil {
				continue
			}
			for i, layout := range bothLayouts() {
				c.Layout, c.ApplyOrientation, c.Synchronous = layout, i == 1, d == formats.Float16
				if c.Synchronous {
					c.Workers = 0
				}
				t.Run(fmt.Sprintf("%s/%s/%s", text, d, layout), func(t *testing.T) { sameOnGPU(t, ds, c, 1, new(onCPU)) })
			}
		}
	}
}

// TestGPUCountsPaths: each image counts, by its path, with the reason.
func TestGPUCountsPaths(t *testing.T) {
	ds := manyEncodings(t, 20)
	c := Config{BatchSize: 5, Workers: 2, DType: formats.Float32, Transforms: parsed(t, "rrc:16,flip,normalize")}
	s := sameOnGPU(t, ds, c, 0, new(onCPU)).Decoded
	if s.Engine != 12 || s.CPU != 8 || s.Reasons[gpudecode.ReasonNotJPEG] != 8 {
		t.Errorf("%+v", s)
	}
	c.ApplyOrientation = true // of the first 20, 3 JPEGs are upright
	s = sameOnGPU(t, ds, c, 0, new(onCPU)).Decoded
	if s.Engine != 3 || s.Reasons[reasonOrientation] != 9 {
		t.Errorf("with orientations: %+v", s)
	}
	c.Transforms = parsed(t, "rrc:16,jitter:0.4,normalize")
	s = sameOnGPU(t, ds, c, 0, new(onCPU)).Decoded
	if s.Engine != 0 || s.Reasons[reasonOrientation] != 9 || s.Reasons[reasonTransforms] != 3 {
		t.Errorf("with colours: %+v", s)
	}
	c.Transforms, c.MaxPixels = parsed(t, "rrc:16"), 1
	if err := firstError(t, gpuLoader(t, ds, c, new(onCPU))); !errors.Is(err, pixel.ErrTooLarge) {
		t.Errorf("images of too many pixels: %v", err)
	}
	l := makeLoader(t, ds, Config{BatchSize: 5, Transforms: parsed(t, "rrc:16")})
	collect(t, l, 0)
	if s := l.Stats().Decoded; s.CPU != 20 || s.Engine+s.CUDA != 0 || s.Reasons == nil {
		t.Errorf("on the CPU: %+v", s)
	}
}

// firstError is the error that ends epoch 0.
func firstError(t *testing.T, l *Loader) error {
	t.Helper()
	for _, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			return err
		}
	}
	return nil
}

// TestGPURefusedImages are decoded by the workers' code, to the same pixels.
func TestGPURefusedImages(t *testing.T) {
	ds := manyEncodings(t, 17)
	n := 0
	d := &onCPU{refuse: func([]byte) bool { n++; return n%2 == 0 }}
	c := Config{BatchSize: 4, Workers: 3, Seed: 1, DType: formats.Float32, Transforms: parsed(t, "rrc:16,flip,vflip,normalize,erase:0.5,mixup:1")}
	if s := sameOnGPU(t, ds, c, 0, d).Decoded; s.Reasons["refused"] == 0 || s.Reasons["refused"] != int64(n/2) {
		t.Errorf("%d of %d were refused: %+v", n/2, n, s)
	}
}

// TestGPUViews lie one behind the other; those that are more than a resize come from the CPU.
func TestGPUViews(t *testing.T) {
	views := multiCrop(t)
	views[1], views[5] = views[1][:2], views[5][:2] // without normalize
	views[2] = append(views[2], augment.RandomErasing{P: 0.8, Random: true})
	c := Config{BatchSize: 4, Workers: 3, Seed: 9, DType: formats.BFloat16, Layout: pixel.NCHW, Views: views}
	s := sameOnGPU(t, manyEncodings(t, 11), c, 2, new(onCPU)).Decoded
	if s.Engine == 0 || s.Reasons[reasonTransforms] == 0 {
		t.Errorf("%+v", s)
	}
	c.Views = multiCrop(t)
	c.Decoder = DecodeOnGPU
	if _, err := New(manyEncodings(t, 3), c); err == nil || !strings.Contains(err.Error(), "view 2 of 7") || !strings.Contains(err.Error(), "normalize") {
		t.Errorf("views that are normalised differently: %v", err)
	}
}

// TestGPUBadSamples: those that the workers find, and those that nobody can decode or read any more after that.
func TestGPUBadSamples(t *testing.T) {
	cases := [][]int{{1, 5, 9}, {0}, {4}, {2, 3}} // late ones are not drawn as substitutes
	if UnderRace {
		cases = cases[:1]
	}
	for _, bad := range cases {
		for _, onError := range []OnError{Skip, Substitute} {
			for _, mixer := range []string{"", ",mixup:1", ",cutmix:1"} {
				c := Config{
					BatchSize: 5, Workers: 3, Seed: 2, DType: formats.Float32, OnError: onError, Shuffle: len(bad) > 2,
					Transforms: parsed(t, "rrc:16,flip,vflip,erase:0.8:value=random"+mixer),
				}
				ds := newFlaky(t, 17, bad...)
				cpu := makeLoader(t, ds.failing(0), c)
				want := collect(t, cpu, 0)
				s := becomes(t, want, ds.failing(1), c, 0, &onCPU{refuse: ds.isLate})
				times, samples := cpu.Bad()
				if s.BadTimes != times || !sameBad(s.Bad, samples) {
					t.Errorf("bad samples %v %s: %d times, %v; on the CPU %d, %v", bad, onError, s.BadTimes, s.Bad, times, samples)
				}
			}
		}
	}
}

// flaky is JPEGs of which some are bad: by the disk after so many reads, by the disk, or by a cut, in turn.
type flaky struct {
	*memory
	late  map[int]bool
	after int
	mu    *sync.Mutex
	reads map[int]int
}

func newFlaky(t testing.TB, n int, bad ...int) flaky {
	t.Helper()
	ds := flaky{memory: newMemory(), late: map[int]bool{}}
	ds.broken = map[int]error{}
	good := photos(t, 2*n)
	for i := range n {
		ds.add("train", good.samples[2*i].Values[0])
	}
	for k, i := range bad {
		v := &ds.samples[i].Values[0]
		switch k % 3 {
		case 0:
			ds.late[i] = true
		case 1:
			ds.broken[i] = errDisk
		default:
			v.Data = v.Data[:len(v.Data)/8]
		}
	}
	return ds
}

// failing is d for one Loader: late samples can be read so many times.
func (d flaky) failing(after int) flaky {
	d.after, d.mu, d.reads = after, new(sync.Mutex), map[int]int{}
	return d
}

// isLate reports whether jpeg is that of a late sample.
func (d flaky) isLate(jpeg []byte) bool {
	for i := range d.late {
		if bytes.Equal(d.samples[i].Values[0].Data, jpeg) {
			return true
		}
	}
	return false
}

func (d flaky) Read(i int, s *formats.Sample) error {
	if d.late[i] {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.reads[i]++; d.reads[i] > d.after {
			return fmt.Errorf("%s: %w", d.samples[i].Key, errDisk)
		}
	}
	return d.memory.Read(i, s)
}

// sameBad compares bad samples in any order.
func sameBad(a, b []BadSample) bool {
	texts := func(samples []BadSample) map[int]string {
		m := map[int]string{}
		for _, s := range samples {
			m[s.Index] = s.Err.Error()
		}
		return m
	}
	return maps.Equal(texts(a), texts(b))
}

// TestGPUFailsByTheFirst: with Fail, the error is that of the first bad sample, wherever it was found.
func TestGPUFailsByTheFirst(t *testing.T) {
	for _, bad := range [][]int{{6, 2}, {2, 6}, {3}, {4, 0, 2}} {
		ds := newFlaky(t, 9, bad...)
		c := Config{BatchSize: 9, Workers: 3, Transforms: parsed(t, "rrc:16")}
		want := firstError(t, makeLoader(t, ds.failing(0), c))
		d := &onCPU{refuse: ds.isLate}
		l := gpuLoader(t, ds.failing(1), c, d)
		if got := firstError(t, l); got == nil || want == nil || got.Error() != want.Error() {
			t.Errorf("%v: %v, want %v", bad, got, want)
		}
		if err := l.Close(); err != nil || d.lent != 0 || !d.closed {
			t.Errorf("%d batches' memory is lent, closed: %v, %v", d.lent, d.closed, err)
		}
	}
}

// TestGPUBatchIsOver: its memory is the decoder's again, once, whatever the loop does with the batch.
func TestGPUBatchIsOver(t *testing.T) {
	ds := photos(t, 20)
	d := new(onCPU)
	l := gpuLoader(t, ds, Config{BatchSize: 4, Workers: 2, Transforms: parsed(t, "resize:16,centercrop:16")}, d)
	var kept, first *Batch
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if first == nil {
			first = b
		} else if kept == nil {
			b.Keep()
			kept = b
			break
		}
	}
	if first.device != nil {
		t.Error("a batch that is over has memory")
	}
	mustPanic(t, "Device of a batch", func() { first.Device() })
	mustPanic(t, "Clone of a batch whose images", func() { kept.Clone() })
	before := slices.Clone(deviceBytes(kept))
	if d.lent != 1 {
		t.Errorf("memory of %d batches is lent, want that of the one that is kept", d.lent)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, deviceBytes(kept)) || bytes.Equal(before, bytes.Repeat([]byte{0x55}, len(before))) {
		t.Error("a batch that is kept changed, or was never written")
	}
	kept.Release()
	if d.lent != 0 || kept.device != nil {
		t.Errorf("memory of %d batches is lent", d.lent)
	}
}

// mustPanic holds that do panics with a text.
func mustPanic(t *testing.T, text string, do func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := fmt.Sprint(recover()); !strings.Contains(got, text) {
			t.Errorf("the panic is %q, want %q", got, text)
		}
	}()
	do()
}

// TestGPUTakenMemory is the caller's: neither the run nor the Loader releases it.
func TestGPUTakenMemory(t *testing.T) {
	d := new(onCPU)
	l := gpuLoader(t, photos(t, 8), Config{BatchSize: 4, Transforms: parsed(t, "rrc:16")}, d)
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := r.Next(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	memory := b.device
	b.TakeDevice()
	if b.device != nil || b.TakeDevice() != nil {
		t.Error("memory that was taken is still there")
	}
	r.Stop()
	if d.lent != 1 {
		t.Errorf("memory of %d batches is lent, want 1", d.lent)
	}
	r, b = nil, nil
	for range 3 {
		runtime.GC()
	}
	if d.count() != 1 {
		t.Error("memory that was taken was freed with its batch")
	}
	memory.Release()
}

// TestGPUForgottenBatch: its memory is freed by the garbage collector, if the run was stopped before it was over.
func TestGPUForgottenBatch(t *testing.T) {
	d := new(onCPU)
	l := gpuLoader(t, photos(t, 8), Config{BatchSize: 4, Transforms: parsed(t, "rrc:16")}, d)
	func() {
		r, err := l.Start(t.Context(), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Next(t.Context()); err != nil {
			t.Fatal(err)
		}
		r.Stop()
	}()
	for d.count() > 0 { // until the test's deadline
		runtime.GC()
		runtime.Gosched()
	}
}

// count is how much memory is lent.
func (d *onCPU) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.lent
}

// TestGPUStop interrupts what is decoded, and frees what was decoded and not asked for.
func TestGPUStop(t *testing.T) {
	began, n := make(chan struct{}), 0
	d := &onCPU{wait: func(ctx context.Context) {
		if n++; n == 3 {
			close(began)
			<-ctx.Done()
		}
	}}
	l := gpuLoader(t, photos(t, 40), Config{BatchSize: 4, Workers: 2, Prefetch: 4, Transforms: parsed(t, "rrc:16")}, d)
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	<-began
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Next(t.Context()); !errors.Is(err, formats.ErrClosed) {
		t.Errorf("Next after Close: %v", err)
	}
	if d.lent != 0 || !d.closed {
		t.Errorf("memory of %d batches is lent, closed: %v", d.lent, d.closed)
	}
	r.Stop()
}

// TestGPULoadsMeanwhile: while a batch is decoded the only worker reads the next ones.
func TestGPULoadsMeanwhile(t *testing.T) {
	ds := photos(t, 12)
	read := make(chan struct{}, 100)
	d := &onCPU{wait: func(ctx context.Context) {
		for range 8 { // those of this batch and of the next
			select {
			case <-read:
			case <-ctx.Done():
			}
		}
	}}
	l := gpuLoader(t, telling{ds, read}, Config{BatchSize: 4, Workers: 1, Prefetch: 2, Transforms: parsed(t, "rrc:16")}, d)
	r, err := l.Start(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Stop()
	if _, err := r.Next(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// telling tells of each sample that is read.
type telling struct {
	*memory
	read chan struct{}
}

func (d telling) Read(i int, s *formats.Sample) error {
	d.read <- struct{}{}
	return d.memory.Read(i, s)
}

// TestGPUFailure of a whole batch ends the run, with its cause.
func TestGPUFailure(t *testing.T) {
	lost := errors.New("the GPU is lost")
	d := &onCPU{fail: func() error { return lost }}
	l := gpuLoader(t, photos(t, 8), Config{BatchSize: 4, OnError: Skip, Transforms: parsed(t, "rrc:16")}, d)
	if err := firstError(t, l); !errors.Is(err, lost) {
		t.Errorf("the error is %v", err)
	}
	if times, _ := l.Bad(); times != 0 || d.lent != 0 {
		t.Errorf("%d samples are called bad, memory of %d batches is lent", times, d.lent)
	}
}

// TestGPUOrders: ranks, tails, a resumed epoch and an encoded cache give what the CPU gives.
func TestGPUOrders(t *testing.T) {
	ds := photos(t, 26)
	for rank := range 2 {
		c := Config{
			BatchSize: 4, Workers: 2, Rank: rank, WorldSize: 2, Shuffle: true, Tail: order.Repeat, DType: formats.Float32,
			Transforms: parsed(t, "rrc:16,flip,normalize,mixup:1"), Cache: Cache{Kind: Encoded, Dir: t.TempDir()},
		}
		sameOnGPU(t, ds, c, 3, new(onCPU))
	}
	c := Config{BatchSize: 4, Workers: 2, Shuffle: true, Transforms: parsed(t, "rrc:16,flip")}
	want := collect(t, makeLoader(t, ds, c), 1)
	l := gpuLoader(t, ds, c, new(onCPU))
	k := 3
	for b, err := range l.Resume(t.Context(), l.StateAt(1, want[2].End)) {
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(deviceBytes(b)[:len(want[k].ImageBytes())], want[k].ImageBytes()) {
			t.Fatalf("batch %d differs", k)
		}
		k++
	}
}

// TestGPUConfig: what the decoder is given, and what is refused.
func TestGPUConfig(t *testing.T) {
	d := new(onCPU)
	options := gpudecode.Options{Device: 3, NVJPEG: "x.so", Packages: []string{"p"}}
	l := gpuLoader(t, photos(t, 8), Config{BatchSize: 4, Workers: 3, DType: formats.Float32, GPU: options, Transforms: parsed(t, "rrc:16,mixup:1")}, d)
	if d.config.Batch != 5 || d.config.Bytes != 5*16*16*3*4 || d.config.Threads != 3 || d.options.Device != 3 || d.options.NVJPEG != "x.so" || l.GPU().Card != "a test's" {
		t.Errorf("%+v, %+v, %+v", d.config, d.options, l.GPU())
	}
	for want, c := range map[string]Config{
		"finishes images on the device": {Deferred: true},
		"any size":                      {AnySize: true},
		"color":                         {Color: pixel.ColorKeep},
		"uint16":                        {DType: formats.Uint16},
		"decoded images":                {Cache: Cache{Kind: Decoded}},
	} {
		c.BatchSize, c.Decoder = 2, DecodeOnGPU
		if _, err := c.WithDefaults(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := (Config{BatchSize: 1, Decoder: "tpu"}).WithDefaults(); err == nil || !strings.Contains(err.Error(), `"tpu"`) {
		t.Errorf("an unknown decoder: %v", err)
	}
	if makeLoader(t, photos(t, 4), Config{BatchSize: 4, Decoder: DecodeOnCPU, Transforms: parsed(t, "rrc:16")}).GPU() != nil {
		t.Error("a GPU on the CPU")
	}
}

// TestGPUEstimate: of the host's memory the copies of the files, of the GPU's the batches and the pixels.
func TestGPUEstimate(t *testing.T) {
	ds := photos(t, 8)
	stored := 0
	for _, s := range ds.samples {
		stored = max(stored, len(s.Values[0].Data))
	}
	c := Config{BatchSize: 4, Prefetch: 1, DType: formats.Float32, Transforms: parsed(t, "rrc:16")}
	cpu, err := makeLoader(t, ds, c).Estimate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	m, err := gpuLoader(t, ds, c, new(onCPU)).Estimate(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if m.Batches-cpu.Batches != int64(2*4*stored) || cpu.Device != 0 || m.Device < 2*4*16*16*3*4 || m.Total() != cpu.Total()+m.Batches-cpu.Batches {
		t.Errorf("%+v, on the CPU %+v, the largest file has %d bytes", m, cpu, stored)
	}
}

// TestTwoBatchesAreOnTheGPU at once if it has an engine: neither of the first two ends before both have begun.
func TestTwoBatchesAreOnTheGPU(t *testing.T) {
	ds := photos(t, 30)
	c := Config{BatchSize: 5, Workers: 2, Transforms: parsed(t, "rrc:16,flip")}
	want := collect(t, makeLoader(t, ds, c), 0)
	var begun atomic.Int64
	both := make(chan struct{})
	var decoders []imageDecoder
	c.Decoder = DecodeOnGPU
	l := loaderOf(t, ds, c, func(_ gpudecode.Options, config gpudecode.Config, n int) ([]imageDecoder, gpudecode.Info, error) {
		for range n {
			decoders = append(decoders, &onCPU{config: config, decoder: codec.NewDecoder(), wait: func(ctx context.Context) {
				if begun.Add(1) == 2 {
					close(both)
				}
				select {
				case <-both:
				case <-ctx.Done():
				}
			}})
		}
		return decoders, gpudecode.Info{Engines: 1, Cores: 1}, nil
	})
	k := 0
	for b, err := range l.Epoch(t.Context(), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n := len(want[k].ViewBytes(0)); !bytes.Equal(finished(t, l, b, 0, deviceBytes(b)[:n]), want[k].ViewBytes(0)) {
			t.Fatalf("batch %d differs", k)
		}
		k++
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if k != 6 || len(decoders) != 2 || !decoders[0].(*onCPU).closed || !decoders[1].(*onCPU).closed {
		t.Errorf("%d batches by %d decoders, or one is open", k, len(decoders))
	}
}
