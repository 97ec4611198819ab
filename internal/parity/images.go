package parity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess"
	public "github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

const (
	// maxScaled is how many pixels a resize may make here: a strip of one pixel's width, whose
	// shorter side is scaled, can become gigabytes.
	maxScaled = 1 << 26
	// The usual evaluation, where the recipe has no resize; random regions are scaled to usualCrop.
	usualResize = 256
	usualCrop   = 224
)

// resizing is the recipe of the path resize: r's or the usual evaluation's, as raw pixels.
func resizing(r preprocess.Recipe) preprocess.Recipe {
	r.Encode, r.Zstd = public.EncodeOptions{Encoding: formats.Raw}, 0
	if r.Resize.Mode == preprocess.ResizeNone {
		r.Resize, r.Upscale = preprocess.Resize{Mode: preprocess.ResizeShorter, W: usualResize}, true
	}
	r.Filter = cmp.Or(r.Filter, pixel.Bilinear)
	return r
}

// described is the path resize for Python. The usual evaluation cuts out the centre.
func (r *run) described() map[string]any {
	center := 0
	if r.recipe.Resize.Mode == preprocess.ResizeNone {
		center = usualCrop
	}
	how := r.resize.Resize
	return map[string]any{
		"mode": how.Mode, "w": how.W, "h": how.H, "filter": r.resize.Filter, "upscale": r.resize.Upscale, "center": center,
	}
}

// image is a message about a sample: an encoded image, pixels where it has a shape or, last, its end.
type image struct {
	Sample int    `json:"sample"` // number of the pair
	Name   string `json:"name"`
	Shape  []int  `json:"shape,omitempty"` // height, width, channels
	Bits   int    `json:"bits,omitempty"`
	// Error is why there is no image; Unsupported that dsconv does not support images of its kind.
	Error       string `json:"error,omitempty"`
	Unsupported bool   `json:"unsupported,omitempty"`
	// Color and Orient are how Pillow decodes a file, Region what was decoded of it.
	Color  pixel.Color `json:"color,omitempty"`
	Orient bool        `json:"orient,omitempty"`
	Region [4]int      `json:"region"`
	// By is what of a GPU decoded it: engine or cuda.
	By string `json:"by,omitempty"`
	// Of the end: Changed is that its file is another one than when it was packed.
	Key     string `json:"key"`
	Changed bool   `json:"changed,omitempty"`
}

// maker makes dsconv's images of samples and sends them to Python. It belongs to one goroutine.
type maker struct {
	*run
	dec         *codec.Decoder
	exact, fast *preprocess.Processor // make the path resize; fast is nil where the build has no fast decoder
	resizer     resample.Resampler
	onGPU       *preprocess.Processor // makes the path gpu of decodedByGPU; nil without a GPU

	decodedByGPU   preprocess.Decoded
	source, stored formats.Sample
	in, out        formats.Sample // of a Processor
	decoded        pixel.Image
	region, scaled pixel.Image
}

func (r *run) newMaker() (*maker, error) {
	m := &maker{run: r, dec: codec.NewDecoder()}
	recipe := r.resize
	var err error
	if m.exact, err = preprocess.NewProcessor(recipe, imageOnly); err == nil {
		recipe.Decode = public.Fast
		m.fast, err = preprocess.NewProcessor(recipe, imageOnly)
	}
	if err == nil && r.gpu != nil {
		m.onGPU, err = preprocess.NewProcessor(r.gpu.recipe, imageOnly)
	}
	return m, err
}

func (m *maker) close() {
	m.dec.Close()
	m.onGPU.Close()
	m.exact.Close()
	if m.fast != nil {
		m.fast.Close()
	}
}

// sample sends all images of pair k.
func (m *maker) sample(ctx context.Context, k int) error {
	p := m.pairs[k]
	if err := m.dst.Read(p.dst, &m.stored); err != nil {
		return fmt.Errorf("the dataset: %w", err)
	}
	if err := m.src.Read(p.src, &m.source); err != nil {
		return fmt.Errorf("the source: %w", err)
	}
	source := &m.source.Values[m.src.Meta().Schema.ImageIndex()]
	if err := m.sendSource(ctx, k, source); err != nil {
		return err
	}
	if err := m.sendStored(k, p.key, &m.stored.Values[m.dst.Meta().Schema.ImageIndex()]); err != nil {
		return err
	}
	changed := p.hash != [16]byte{} && checksum.Hash(source.Data) != p.hash
	m.python.send(image{Sample: k, Name: "end", Key: p.key, Changed: changed}, nil)
	return nil
}

func (m *maker) sendSource(ctx context.Context, k int, v *formats.Value) error {
	o := codec.DecodeOptions{
		Color: m.recipe.Color, EXIF: m.recipe.EXIF, MaxPixels: m.recipe.MaxPixels,
	}
	m.sendFile(k, "source file", v, o)
	err := m.dec.Decode(&m.decoded, v, o)
	if e := m.sendPixels(k, "decode", &m.decoded, err); e != nil || err != nil {
		return e
	}
	w, h, _ := m.resize.Resize.Plan(m.decoded.W, m.decoded.H, m.resize.Upscale)
	if h > maxScaled/w {
		return nil
	}
	if err := m.sendResized(k, "resize", m.exact, v); err != nil {
		return err
	}
	if err := m.sendGPU(ctx, k, v); err != nil {
		return err
	}
	if m.fast == nil || v.Encoding.IsRaw() || formats.Sniff(v.Data) != formats.JPEG {
		return nil
	}
	return m.sendResized(k, "fast", m.fast, v)
}

// sendResized sends what pack makes of an image.
func (m *maker) sendResized(k int, name string, proc *preprocess.Processor, v *formats.Value) error {
	m.in.Resize(1)
	m.in.Values[0].Set(*v)
	if err := proc.Process(&m.in, &m.out); err != nil {
		return m.sendPixels(k, name, nil, err)
	}
	return m.sendPixels(k, name, m.result(), nil)
}

// result is the raw image of m.out.
func (m *maker) result() *pixel.Image {
	out := &m.out.Values[0]
	return &pixel.Image{Pix: out.Data, H: out.Shape[0], W: out.Shape[1], C: out.Shape[2], DType: out.DType}
}

func (m *maker) sendStored(k int, key string, v *formats.Value) error {
	o := codec.DecodeOptions{Color: pixel.ColorKeep, MaxPixels: m.recipe.MaxPixels}
	if m.recipe.Encode.Encoding == "" { // as it was, or its coefficients
		o.Color = m.recipe.Color
	}
	m.sendFile(k, "stored file", v, o)
	err := m.dec.Decode(&m.decoded, v, o)
	if e := m.sendPixels(k, "stored", &m.decoded, err); e != nil || err != nil {
		return e
	}
	o.Region = randomCrop(key, m.decoded.H, m.decoded.W)
	err = m.dec.Decode(&m.region, v, o)
	msg := image{Sample: k, Name: "region", Region: [4]int{o.Region.X, o.Region.Y, o.Region.W, o.Region.H}}
	if e := m.sendImage(msg, &m.region, err); e != nil || err != nil {
		return e
	}
	err = m.resizer.Resize(&m.scaled, &m.region, pixel.Rect{}, usualCrop, usualCrop, pixel.Bilinear)
	if err != nil {
		return err
	}
	return m.sendPixels(k, "crop", &m.scaled, nil)
}

// sendFile sends an image as it is stored, for Pillow to decode, or its pixels if it is raw.
func (m *maker) sendFile(k int, name string, v *formats.Value, o codec.DecodeOptions) {
	msg := image{Sample: k, Name: name, Color: cmp.Or(o.Color, pixel.ColorRGB), Orient: o.EXIF == pixel.EXIFApply}
	if !v.Encoding.IsRaw() {
		m.python.send(msg, v.Data)
		return
	}
	o.Color = pixel.ColorKeep
	err := m.dec.Decode(&m.region, v, o)
	_ = m.sendImage(msg, &m.region, err) // what ends the run ends it when the image is decoded again
}

func (m *maker) sendPixels(k int, name string, pixels *pixel.Image, err error) error {
	return m.sendImage(image{Sample: k, Name: name}, pixels, err)
}

// sendImage sends pixels, or why there are none. It gives errors that end the run.
func (m *maker) sendImage(msg image, pixels *pixel.Image, err error) error {
	if pixel.EndsRun(err) {
		return err
	}
	if err != nil {
		msg.Error, msg.Unsupported = err.Error(), errors.Is(err, pixel.ErrUnsupported)
		m.python.send(msg, nil)
		return nil
	}
	msg.Shape, msg.Bits = []int{pixels.H, pixels.W, pixels.C}, 8*pixels.DType.Size()
	m.python.send(msg, pixels.Pix)
	return nil
}

// randomCrop is a region of an image as RandomResizedCrop draws it, by key.
func randomCrop(key string, h, w int) pixel.Rect {
	sum := fnv.New64a()
	sum.Write([]byte(key))
	rng := rand.New(rand.NewPCG(seed, sum.Sum64()))
	for range 10 {
		area := float64(h*w) * (0.08 + 0.92*rng.Float64())
		ratio := math.Exp((2*rng.Float64() - 1) * math.Log(4.0/3))
		cw, ch := int(math.Round(math.Sqrt(area*ratio))), int(math.Round(math.Sqrt(area/ratio)))
		if cw > 0 && ch > 0 && cw <= w && ch <= h {
			return pixel.Rect{X: rng.IntN(w - cw + 1), Y: rng.IntN(h - ch + 1), W: cw, H: ch}
		}
	}
	return pixel.Rect{W: w, H: h}
}
