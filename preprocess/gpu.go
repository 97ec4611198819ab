package preprocess

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/internal/image/budget"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Decoder says where JPEGs are decoded and scaled. "" is DecoderCPU.
type Decoder string

// The decoders.
const (
	DecoderCPU Decoder = "cpu"
	DecoderGPU Decoder = "gpu" // NVIDIA's nvJPEG; what it cannot decode is decoded on the CPU
)

// MarshalText implements encoding.TextMarshaler.
func (d Decoder) MarshalText() ([]byte, error) { return []byte(d), nil }

// UnmarshalText reads the value of --decoder; "" is the default.
func (d *Decoder) UnmarshalText(text []byte) error {
	switch decoder := Decoder(text); decoder {
	case "", DecoderCPU, DecoderGPU:
		*d = decoder
		return nil
	}
	return fmt.Errorf("decoder %q: choose cpu or gpu", text)
}

// Device is what the pixels of DecoderGPU depend on: another library or card may give others.
type Device struct {
	NVJPEG string // version of nvJPEG
	Card   string
	Engine bool // the card has a JPEG engine
}

// DeviceOf returns the Device that a GPU's description names.
func DeviceOf(i gpudecode.Info) Device {
	return Device{NVJPEG: i.NVJPEG, Card: i.Card, Engine: i.Engines > 0}
}

// The keys of Recipe.Map. decoder-version is that of the decoder on the CPU, for the images that a GPU does not decode.
const (
	decoderKey = "decoder"
	nvjpegKey  = "nvjpeg"
	cardKey    = "card"
	engineKey  = "jpeg-engine"
)

// record adds d to the map of a recipe with DecoderGPU.
func (d Device) record(m map[string]string) {
	m[decoderKey], m[nvjpegKey], m[cardKey] = string(DecoderGPU), d.NVJPEG, d.Card
	if d.Engine {
		m[engineKey] = "true"
	}
}

// recordedDevice returns what record added.
func recordedDevice(m map[string]string) Device {
	return Device{NVJPEG: m[nvjpegKey], Card: m[cardKey], Engine: m[engineKey] == "true"}
}

// Check returns an error if a GPU would give other pixels than d.
func (d Device) Check(i gpudecode.Info) error {
	if now := DeviceOf(i); now != d {
		return fmt.Errorf("its images were decoded by %s, but here is %s, which may give other pixels: use the same library and card, or pack it again", d, now)
	}
	return nil
}

// String names the library and the card.
func (d Device) String() string {
	engine := "without"
	if d.Engine {
		engine = "with"
	}
	return fmt.Sprintf("nvJPEG %s on %s %s a JPEG engine", d.NVJPEG, d.Card, engine)
}

// MaxGPUResult is the most bytes that an image may have after a GPU has decoded and scaled it: 22 megapixels of 3
// channels. Larger ones are processed on the CPU. A BatchDecoder must take results of this size.
const MaxGPUResult = 64 << 20

// BatchDecoder decodes single images of many goroutines in batches: a gpudecode.Batcher.
type BatchDecoder interface {
	Decode(context.Context, *gpudecode.Request, *pixel.Image) (gpudecode.Outcome, error)
}

// GPUDecoder decodes and scales the images of samples on a GPU, before a Processor of the same Recipe encodes them. It
// is safe for concurrent use.
type GPUDecoder struct {
	recipe Recipe
	schema formats.Schema
	image  int
	batch  BatchDecoder
}

// NewGPUDecoder returns a GPUDecoder for samples of a schema that decodes by b. The recipe's Decoder must be DecoderGPU.
func NewGPUDecoder(r Recipe, schema formats.Schema, b BatchDecoder) (*GPUDecoder, error) {
	if r.Decoder != DecoderGPU {
		return nil, fmt.Errorf("preprocess.NewGPUDecoder: the recipe's Decoder is %q: set DecoderGPU", r.Decoder)
	}
	if err := errors.Join(r.Validate(), schema.Validate()); err != nil {
		return nil, err
	}
	return &GPUDecoder{recipe: r, schema: schema, image: schema.ImageIndex(), batch: b}, nil
}

// Decoded are images of one sample that a GPU decoded. The zero value has none and is ready for use.
type Decoded struct {
	fields   []decodedImage
	outcomes []gpudecode.Outcome
}

// decodedImage is the image of a field, if a GPU decoded it.
type decodedImage struct {
	pixels  pixel.Image
	decoded bool
	scaled  bool // to the geometry's size; not cropped yet
}

// Outcomes says for each image that the recipe decodes, except masks, what decoded it. The slice is valid until the
// next Decode.
func (d *Decoded) Outcomes() []gpudecode.Outcome {
	if d == nil {
		return nil
	}
	return d.outcomes
}

// Drop frees large buffers.
func (d *Decoded) Drop() {
	if d == nil {
		return
	}
	for i := range d.fields {
		d.fields[i].pixels.Shrink()
	}
}

// reset empties d for a sample of n fields.
func (d *Decoded) reset(n int) {
	d.fields = slices.Grow(d.fields[:0], n)[:n]
	for i := range d.fields {
		d.fields[i].decoded = false
	}
	d.outcomes = d.outcomes[:0]
}

// of returns the image of field i, nil if no GPU decoded it.
func (d *Decoded) of(i int) *decodedImage {
	if d == nil || i >= len(d.fields) || !d.fields[i].decoded {
		return nil
	}
	return &d.fields[i]
}

// Memory returns about how many bytes of pixels Decode makes of in.
func (g *GPUDecoder) Memory(in *formats.Sample) (n int64) {
	geometry, ok := g.geometry(in)
	for i := range in.Values {
		if ok && i < len(g.schema) && g.schema[i].Kind == formats.Image {
			if r, reason := g.request(&in.Values[i], &geometry); reason == "" {
				n += budget.ImageBytes(r.H, r.W, r.Channels)
			}
		}
	}
	return n
}

// Decode decodes the images of in, but no masks, to d. What the GPU cannot decode is left to the Processor; d.Outcomes
// says why. An error is not about the sample: ctx ended, or the GPU failed.
func (g *GPUDecoder) Decode(ctx context.Context, in *formats.Sample, d *Decoded) error {
	d.reset(len(g.schema))
	if len(in.Values) != len(g.schema) {
		return nil // Process says so
	}
	geometry, ok := g.geometry(in)
	for i, f := range g.schema {
		if f.Kind != formats.Image {
			continue
		}
		out := gpudecode.Outcome{Path: gpudecode.CPU, Reason: gpudecode.ReasonIrregular}
		if ok {
			var err error
			if out, err = g.decodeOne(ctx, &in.Values[i], &geometry, &d.fields[i]); err != nil {
				return fmt.Errorf("field %s: %w", f.Name, err)
			}
		}
		d.outcomes = append(d.outcomes, out)
	}
	return nil
}

// geometry plans a sample's transform as the Processor does. ok is false if that leaves the sample out.
func (g *GPUDecoder) geometry(in *formats.Sample) (_ geometry, ok bool) {
	if g.image >= len(in.Values) {
		return geometry{}, false
	}
	v := &in.Values[g.image]
	h, err := new(inner.Decoder).Inspect(v)
	if err != nil {
		return geometry{}, false
	}
	var t geometry
	ok = t.plan(g.recipe, h.H, h.W, h.Orientation) == nil
	return t, ok
}

// errLeftToProcessor is what a Request's CPU returns: the Processor decodes the image.
var errLeftToProcessor = errors.New("left to the Processor")

func (g *GPUDecoder) decodeOne(ctx context.Context, v *formats.Value, t *geometry, d *decodedImage) (gpudecode.Outcome, error) {
	r, reason := g.request(v, t)
	if reason != "" {
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: reason}, nil
	}
	out, err := g.batch.Decode(ctx, &r, &d.pixels)
	switch {
	case errors.Is(err, errLeftToProcessor) || errors.Is(out.Err, errLeftToProcessor):
		return gpudecode.Outcome{Path: gpudecode.CPU, Reason: out.Reason}, nil
	case err != nil:
		return out, err
	}
	d.decoded, d.scaled = true, t.scale && t.orientation == 1
	return out, nil
}

// request is how the GPU decodes an image, or the reason why it does not. An image that EXIF data rotates is only
// decoded there: Pillow rotates before it scales, and the order of its passes decides how they round.
func (g *GPUDecoder) request(v *formats.Value, t *geometry) (r gpudecode.Request, reason string) {
	if v.Encoding.IsRaw() || formats.Sniff(v.Data) != formats.JPEG {
		return r, gpudecode.ReasonNotJPEG
	}
	_, h, err := inner.Inspect(v.Data)
	if err != nil || inner.CheckSize(h, g.recipe.MaxPixels) != nil {
		return r, gpudecode.ReasonIrregular
	}
	r = gpudecode.Request{
		JPEG: v.Data, Window: pixel.Rect{W: h.W, H: h.H}, H: h.H, W: h.W, Filter: g.recipe.filter(),
		Channels: g.recipe.color().Channels(h.C), CPU: func() error { return errLeftToProcessor },
	}
	if t.scale && t.orientation == 1 {
		r.H, r.W = t.h, t.w
	}
	switch {
	case r.Channels != 1 && r.Channels != 3 || h.DType != formats.Uint8:
		return r, gpudecode.ReasonColors
	case budget.ImageBytes(r.H, r.W, r.Channels) > MaxGPUResult:
		return r, gpudecode.ReasonSize
	}
	return r, ""
}
