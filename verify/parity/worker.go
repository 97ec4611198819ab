package parity

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/preprocess"
)

// maxScaled is how many pixels a resize may make here: a strip of one pixel's width, whose
// shorter side is scaled, can become gigabytes.
const maxScaled = 1 << 26

// worker compares samples. It belongs to one goroutine.
type worker struct {
	*run
	judge   *judge
	has     Judge
	dec     *preprocess.Decoder
	exact   *preprocess.Processor // makes the path resize
	fast    *preprocess.Processor // nil where the build knows no fast way
	resizer preprocess.Resampler

	source, stored formats.Sample
	in, out        formats.Sample // of a Processor
	decoded        preprocess.Image
	part, scaled   preprocess.Image
}

func (r *run) worker(ctx context.Context) (*worker, error) {
	schema := formats.Schema{{Name: "image", Kind: formats.Image}}
	recipe := r.resizing()
	exact, err := preprocess.NewProcessor(recipe, schema)
	if err != nil {
		return nil, err
	}
	w := &worker{run: r, dec: preprocess.NewDecoder(), exact: exact}
	if preprocess.HasLibjpegTurbo {
		recipe.Fast = true
		if w.fast, err = preprocess.NewProcessor(recipe, schema); err != nil {
			return nil, err
		}
	}
	w.judge, w.has, err = startJudge(ctx, r.o, r.resizeStep().inTorchvision(maxScaled, maxScaled))
	if err != nil {
		return nil, err // the rest holds nothing yet
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.found.Judge = w.has
	return w, nil
}

func (w *worker) close() {
	w.judge.close()
	w.dec.Close()
	w.exact.Close()
	if w.fast != nil {
		w.fast.Close()
	}
}

// sample compares all paths of one sample.
func (w *worker) sample(ctx context.Context, p pair) error {
	if err := w.dst.Read(p.dst, &w.stored); err != nil {
		return fmt.Errorf("the dataset: %w", err)
	}
	if err := w.src.Read(p.src, &w.source); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	source := &w.source.Values[w.src.Meta().Schema.ImageIndex()]
	want, err := w.fromSource(ctx, p.key, source)
	if err != nil {
		return fmt.Errorf("%s: %w", p.key, err)
	}
	if p.inFiles && p.hash != [16]byte{} && atrest.Hash(source.Data) != p.hash {
		w.mu.Lock()
		w.found.Changed = append(w.found.Changed, p.key)
		w.mu.Unlock()
		want = expected{}
	}
	if err := w.fromStored(ctx, p.key, want); err != nil {
		return fmt.Errorf("%s: %w", p.key, err)
	}
	return nil
}

// expected is what should have been stored, by Pillow.
type expected struct {
	made
	otherOrder bool
}

// fromSource compares what is made of the source.
func (w *worker) fromSource(ctx context.Context, key string, v *formats.Value) (want expected, err error) {
	o := preprocess.DecodeOptions{
		Color: w.recipe.Color, ApplyOrientation: w.recipe.EXIF == preprocess.EXIFApply, MaxPixels: w.recipe.MaxPixels,
	}
	ours := w.dec.Decode(&w.decoded, v, o)
	if preprocess.EndsRun(ours) {
		return want, ours
	}
	q, data, err := w.question(v, o)
	if err != nil {
		w.unjudged(w.paths.decode, err)
		return want, nil
	}
	resize := w.resizeStep()
	fits := false
	if q.Steps = []step{{Op: "decode"}}; ours == nil {
		var more []step
		more, fits = w.resizes(resize, w.decoded.H, w.decoded.W)
		q.Steps = append(q.Steps, more...)
	}
	steps, refusal, err := w.judge.ask(ctx, q, data)
	if err != nil {
		return want, err
	}
	if !w.decodes(w.paths.decode, key, ours, refusal) {
		return want, nil
	}
	w.compare(w.paths.decode, key, &w.decoded, steps[0], false)
	asIs := w.recipe.Resize.Mode == preprocess.ResizeNone
	if asIs {
		want.made = steps[0]
	}
	if !fits {
		w.unjudged(w.paths.resize, errTooLarge)
		return want, nil
	}
	toH, toW := resize.size(w.decoded.H, w.decoded.W)
	other := otherOrder(w.decoded.H, w.decoded.W, toH, toW)
	if !asIs {
		want = expected{made: steps[1], otherOrder: other}
	}
	w.resized(key, v, resize.Center, steps[1:], other)
	if q.Mode == "" && formats.Sniff(data) == formats.JPEG {
		if w.fast != nil {
			w.fastResized(key, v, resize.Center, steps[1])
		}
	}
	return want, nil
}

// resizes are the steps that make the path resize of an image of h by w pixels, by Pillow
// and, where it can, torchvision; fits is false, and there are none, if it would be too large.
func (w *worker) resizes(resize step, h, width int) (steps []step, fits bool) {
	toH, toW := resize.size(h, width)
	if toH > maxScaled/toW {
		return nil, false
	}
	steps = []step{resize}
	if w.has.Torchvision != "" && resize.inTorchvision(h, width) {
		again := resize
		again.Op = "torchvision"
		steps = append(steps, again)
	}
	return steps, true
}

// resized compares the path resize with theirs: Pillow's and, if it was asked, torchvision's.
func (w *worker) resized(key string, v *formats.Value, center int, theirs []made, otherOrder bool) {
	scaled, err := w.resize(w.exact, v, center)
	if !w.decodes(w.paths.resize, key, err, nil) {
		return
	}
	w.compare(w.paths.resize, key, scaled, theirs[0], otherOrder)
	if len(theirs) > 1 {
		w.compare(w.paths.torchvision, key, scaled, theirs[1], otherOrder)
	}
}

func (w *worker) fastResized(key string, v *formats.Value, center int, theirs made) {
	scaled, err := w.resize(w.fast, v, center)
	if w.decodes(w.paths.fast, key, err, nil) {
		w.compare(w.paths.fast, key, scaled, theirs, false)
	}
}

// resize is what pack makes of an image.
func (w *worker) resize(proc *preprocess.Processor, v *formats.Value, center int) (*preprocess.Image, error) {
	w.in.Resize(1)
	w.in.Values[0].Set(*v)
	if err := proc.Process(&w.in, &w.out); err != nil {
		return nil, err
	}
	out := &w.out.Values[0]
	m := &preprocess.Image{Pix: out.Data, H: out.Shape[0], W: out.Shape[1], C: out.Shape[2], DType: out.DType}
	if center > 0 {
		m = cut(m, center)
	}
	return m, nil
}

// fromStored compares what is stored with what Pillow makes of it and with what it should be.
func (w *worker) fromStored(ctx context.Context, key string, want expected) error {
	v := &w.stored.Values[w.dst.Meta().Schema.ImageIndex()]
	o := preprocess.DecodeOptions{Color: preprocess.ColorKeep, MaxPixels: w.recipe.MaxPixels}
	if w.recipe.Encode.Encoding == "" { // as it was, or its coefficients
		o.Color = w.recipe.Color
	}
	ours := w.dec.Decode(&w.decoded, v, o)
	if preprocess.EndsRun(ours) {
		return ours
	}
	if ours == nil && want.image != nil {
		want.image = withColors(want.image)
		w.compare(w.paths.packed, key, withColors(&w.decoded), want.made, want.otherOrder)
	}
	q, data, err := w.question(v, o)
	if err != nil {
		w.unjudged(w.paths.stored, err)
		return nil
	}
	q.Steps = []step{{Op: "decode"}}
	var r preprocess.Rect
	if ours == nil {
		r = randomCrop(w.o.Seed, key, w.decoded.H, w.decoded.W)
		part := step{Op: "region", X: r.X, Y: r.Y, W: r.W, H: r.H, Filter: preprocess.Bilinear}
		crop := part
		crop.Side = usualCrop
		q.Steps = append(q.Steps, part, crop)
	}
	steps, refusal, err := w.judge.ask(ctx, q, data)
	if err != nil {
		return err
	}
	if !w.decodes(w.paths.stored, key, ours, refusal) {
		return nil
	}
	if q.Mode == "" { // raw pixels need no decoder
		w.compare(w.paths.stored, key, &w.decoded, steps[0], false)
	}
	o.Region = r
	if err := w.dec.Decode(&w.part, v, o); preprocess.EndsRun(err) {
		return err
	} else if !w.decodes(w.paths.region, key, err, nil) {
		return nil
	}
	w.compare(w.paths.region, key, &w.part, steps[1], false)
	if err := w.resizer.Resize(&w.scaled, &w.part, preprocess.Rect{}, usualCrop, usualCrop, preprocess.Bilinear); err != nil {
		return err
	}
	w.compare(w.paths.crop, key, &w.scaled, steps[2], otherOrder(r.H, r.W, usualCrop, usualCrop))
	return nil
}

var (
	errDeepColor = errors.New("no 16-bit colour in Pillow")
	errTooLarge  = errors.New("the scaled image would be too large")
)

// question asks Pillow about an image: by its bytes, or by its pixels if it is raw.
func (w *worker) question(v *formats.Value, o preprocess.DecodeOptions) (q question, data []byte, err error) {
	q = question{Color: o.Color, Orient: o.ApplyOrientation, MaxPixels: o.MaxPixels}
	if q.Color == "" {
		q.Color = preprocess.ColorRGB
	}
	if q.MaxPixels == 0 {
		q.MaxPixels = preprocess.DefaultMaxPixels
	}
	if v.Encoding != formats.Raw && v.Encoding != formats.RawZstd {
		return q, v.Data, nil
	}
	o.Color = preprocess.ColorKeep
	if err := w.dec.Decode(&w.part, v, o); err != nil {
		return q, nil, err
	}
	q.Mode, q.W, q.H = modeOf(&w.part), w.part.W, w.part.H
	if q.Mode == "" {
		return q, nil, errDeepColor
	}
	return q, w.part.Pix, nil
}

// unjudged counts an image that Pillow is not asked about.
func (w *worker) unjudged(p *Path, why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p.notJudged(why.Error())
}

// decodes notes who does not decode an image, and says whether both do.
func (w *worker) decodes(p *Path, key string, ours, theirs error) bool {
	if ours == nil && theirs == nil {
		return true
	}
	r := Refusal{Key: key, Excused: ours != nil && theirs != nil || errors.Is(ours, preprocess.ErrUnsupported)}
	if ours != nil {
		r.Dsconv = ours.Error()
	}
	if theirs != nil {
		r.Pillow = theirs.Error()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	p.Refused = append(p.Refused, r)
	return false
}

// compare counts an image. otherOrder says that an old Pillow may make other pixels.
func (w *worker) compare(p *Path, key string, ours *preprocess.Image, theirs made, otherOrder bool) {
	why := ""
	var d difference
	switch {
	case theirs.err != nil:
		why = "Pillow: " + theirs.err.Error()
	case modeOf(ours) == "":
		why = errDeepColor.Error()
	default:
		d = differenceOf(ours, theirs.image)
		if pillow := w.has.Pillow; otherOrder && !d.equal() && major(pillow) < pillowOfResampler {
			why = fmt.Sprintf("Pillow %s has another order of passes", pillow)
		}
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if why != "" {
		p.notJudged(why)
		return
	}
	p.add(key, d)
}

// randomCrop is a part of an image as RandomResizedCrop draws it, by key.
func randomCrop(seed uint64, key string, h, w int) preprocess.Rect {
	sum := fnv.New64a()
	sum.Write([]byte(key))
	rng := rand.New(rand.NewPCG(seed, sum.Sum64()))
	for range 10 {
		area := float64(h*w) * (0.08 + 0.92*rng.Float64())
		ratio := math.Exp((2*rng.Float64() - 1) * math.Log(4.0/3))
		cw, ch := int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if cw > 0 && ch > 0 && cw <= w && ch <= h {
			return preprocess.Rect{X: rng.IntN(w - cw + 1), Y: rng.IntN(h - ch + 1), W: cw, H: ch}
		}
	}
	return preprocess.Rect{W: w, H: h}
}
