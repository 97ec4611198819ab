package preprocess

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/forgotten"
	"github.com/dsconv/dsconv/internal/image/budget"
	inner "github.com/dsconv/dsconv/internal/image/codec"
	moves "github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Processor applies a Recipe to samples. It is for one goroutine and for many samples. Close frees its
// memory; one that is forgotten is freed once it is unreachable.
type Processor struct {
	recipe Recipe
	schema formats.Schema
	image  int
	*tools
	decoded  pixel.Image
	lent     *pixel.Image // pixels that a GPU decoded
	mover    moves.Mover
	geometry geometry  // of the sample
	corners  []float32 // of boxes

	dropEarly bool // all buffers together would exceed the image's limit

	// ReserveOutput, if not nil, is called before an output of n bytes that is far larger than its
	// file. If it returns false, Process returns ErrPostponed.
	ReserveOutput func(n int64) bool

	warning     string
	narrowed    string
	orientation int
	tiled       int
	untiled     []string
}

// tools are what a Processor must free. They do not refer to it.
type tools struct {
	decoder     inner.Decoder
	encoder     inner.Encoder
	transcoder  jpeg.Transcoder
	reservation budget.Reservation
	open        *forgotten.Open
}

func (t *tools) close() {
	t.decoder.Close()
	t.encoder.Close()
	t.transcoder.Close()
}

// NewProcessor returns a Processor for samples of a schema, or an error about the recipe or the
// schema.
func NewProcessor(r Recipe, schema formats.Schema) (*Processor, error) {
	if err := r.Validate(); err != nil {
		return nil, err
	}
	if err := schema.Validate(); err != nil {
		return nil, err
	}
	if r.Encode.Encoding == formats.JPEG {
		r.Encode.Quality = cmp.Or(r.Encode.Quality, codec.DefaultQuality)
	}
	t := &tools{reservation: budget.Reservation{OutputPixels: r.Resize.maxOutputPixels()}}
	t.decoder.Reservation = &t.reservation
	p := &Processor{recipe: r, schema: schema, image: schema.ImageIndex(), tools: t}
	p.mover.Used = p.dropMoved
	t.open = forgotten.Track(p, "image processor", t.close)
	return p, nil
}

// StopBy makes s end Process early, from now until Close.
func (p *Processor) StopBy(s *pixel.Stop) {
	if p.tools == nil {
		return
	}
	p.decoder.StopBy(s)
	p.encoder.StopBy(s)
	p.transcoder.StopBy(s)
}

// Close frees the Processor's memory. It may be closed again, and be nil; Process then returns an error.
func (p *Processor) Close() {
	if p == nil || p.tools == nil {
		return
	}
	p.open.Done()
	p.close()
	p.tools = nil
}

// Warning says what was irregular about an image of the last sample, "" if nothing was. Pillow and
// dsconv read it nevertheless.
func (p *Processor) Warning() string { return p.warning }

// Narrowed says how an image of the last sample, of more than 8 bits per channel, lost some of them, as
// Decoder.Narrowed does; "" if none did.
func (p *Processor) Narrowed() string { return p.narrowed }

// Orientation is the EXIF orientation of the last sample's main image in the source: 1 to 8, 1 if it
// has none.
func (p *Processor) Orientation() int { return p.orientation }

// Tiled returns how many images of the last sample were tiled for Encode.Tiled, and for each other
// image the reason why it keeps its bytes. The reasons are a small fixed set; the slice is valid
// until the next Process.
func (p *Processor) Tiled() (n int, untiled []string) { return p.tiled, p.untiled }

// Process applies the recipe to in and writes the result to out, another sample. Values that stay
// the same are swapped instead of copied: in gets out's old buffers. Afterwards, also after an
// error, in's Values have unspecified contents and can only be filled again. The rest of in stays.
//
// Every image gets the recipe's colour, size and encoding. Extra images and masks follow the main
// image: if the recipe has a resize they get its size and crop, whatever their own size. Masks are scaled with the nearest filter, keep their
// channels and depth, and are written raw if the images are, otherwise as PNG. Boxes are scaled,
// shifted and clipped to the image. An error names the field.
//
// A recipe with DecoderGPU needs ProcessDecoded.
func (p *Processor) Process(in, out *formats.Sample) error { return p.ProcessDecoded(in, nil, out) }

// ProcessDecoded is Process for a sample whose images a GPUDecoder of the same recipe decoded to d. Those that it left
// out are decoded here. d may be nil if the recipe's Decoder is not DecoderGPU.
func (p *Processor) ProcessDecoded(in *formats.Sample, d *Decoded, out *formats.Sample) error {
	switch {
	case p.tools == nil:
		return fmt.Errorf("preprocess: Process: the Processor did not come from NewProcessor, or %w", formats.ErrClosed)
	case in == out:
		return errors.New("preprocess: Process: in and out are the same sample: pass another one")
	case d == nil && p.recipe.Decoder == DecoderGPU:
		return errors.New("preprocess: Process: the recipe decodes on a GPU: decode the sample by a GPUDecoder, and use ProcessDecoded")
	}
	p.warning, p.narrowed, p.orientation, p.tiled, p.untiled = "", "", 1, 0, p.untiled[:0]
	if len(in.Values) != len(p.schema) {
		return fmt.Errorf("%w: %d values for %d fields", formats.ErrSchema, len(in.Values), len(p.schema))
	}
	out.Key, out.Split, out.Source, out.Checksum, out.Provenance = in.Key, in.Split, in.Source, in.Checksum, in.Provenance
	out.SetColumns(in.Columns...)
	in.Resize(len(in.Values)) // they may be the dataset's
	out.Resize(len(in.Values))
	if p.recipe.keepsPixels() {
		return p.passThrough(in, out)
	}
	g := &p.geometry
	g.planned = false
	if err := p.processImage(&out.Values[p.image], &in.Values[p.image], d.of(p.image), p.schema[p.image].Kind, g); err != nil {
		return fmt.Errorf("field %s: %w", p.schema[p.image].Name, err)
	}
	for i, f := range p.schema {
		var err error
		switch {
		case i == p.image:
		case f.Kind == formats.Image || f.Kind == formats.Mask:
			err = p.processImage(&out.Values[i], &in.Values[i], d.of(i), f.Kind, g)
		case f.Kind == formats.Boxes:
			err = p.moveBoxes(g, &out.Values[i], &in.Values[i])
		}
		if err != nil {
			return fmt.Errorf("field %s: %w", f.Name, err)
		}
	}
	for i, f := range p.schema { // last: a sample that is postponed keeps its values
		if f.Kind != formats.Image && f.Kind != formats.Mask && f.Kind != formats.Boxes {
			out.Values[i].Swap(&in.Values[i])
		}
	}
	return nil
}

// processImage decodes, turns, scales and encodes one image or mask, or only does what a GPU left to do of it. The main
// image comes first and decides g.
func (p *Processor) processImage(out, in *formats.Value, gpu *decodedImage, kind formats.Kind, g *geometry) error {
	o := inner.DecodeOptions{Color: p.recipe.color()}
	filter, enc := p.recipe.filter(), p.recipe.Encode
	if kind == formats.Mask {
		o, filter = inner.MaskOptions(), pixel.Nearest
		if enc.Encoding == formats.JPEG {
			enc = codec.EncodeOptions{Encoding: formats.PNG}
		}
	}
	o.MaxPixels = p.recipe.MaxPixels
	if !g.planned {
		if err := p.planGeometry(g, in); err != nil {
			return err
		}
	}
	if p.recipe.fast() && kind == formats.Image {
		o.Mode = codec.Fast
		o.MinH, o.MinW = pixel.OrientedSize(g.h, g.w, g.orientation)
	}
	defer p.free()
	if err := p.reserve(in, gpu, o, g, enc, filter); err != nil {
		return err
	}
	m, area, err := p.pixels(in, gpu, o)
	if err != nil {
		return err
	}
	m, err = p.transform(m, area, g, gpu != nil && gpu.scaled, moves.How{Nearest: filter == pixel.Nearest && kind == formats.Mask})
	if err != nil {
		return err
	}
	return p.encoder.Encode(out, m, enc, int(p.recipe.Zstd))
}

// pixels returns the pixels of an image: those that a GPU decoded, or else decoded here, and where the image lies in
// them.
func (p *Processor) pixels(in *formats.Value, gpu *decodedImage, o inner.DecodeOptions) (*pixel.Image, pixel.Area, error) {
	p.lent = nil
	if gpu != nil {
		p.lent = &gpu.pixels
		return p.lent, pixel.Area{X1: float64(gpu.pixels.W), Y1: float64(gpu.pixels.H)}, nil
	}
	if err := p.decoder.Decode(&p.decoded, in, o); err != nil {
		return nil, pixel.Area{}, err
	}
	if how := p.decoder.Narrowed(); how != "" {
		p.narrowed = how
	}
	return &p.decoded, p.decoder.Area(), p.warn(p.decoder.Warning())
}

// transform moves m, a decoded image whose area is the source's, as g says. scaled says that it is upright and scaled
// already.
func (p *Processor) transform(m *pixel.Image, area pixel.Area, g *geometry, scaled bool, how moves.How) (*pixel.Image, error) {
	p.dropUsed()
	switch {
	case scaled:
		return p.mover.Move(g.afterScaling(), m, how)
	case !g.resizes:
		return p.mover.Turned(&g.path, m)
	}
	how.Area = area
	return p.mover.Move(&g.path, m, how)
}

// planGeometry plans the geometry of a sample's images by the header of the main one.
func (p *Processor) planGeometry(g *geometry, v *formats.Value) error {
	h, err := p.decoder.Inspect(v)
	if err != nil {
		return err
	}
	p.orientation = h.Orientation
	return g.plan(p.recipe, h.H, h.W, h.Orientation)
}

// OutputSchema is the schema of the samples that Process returns. The shape of an image is set if it
// is the same for all samples, that is for raw pixels of a fixed size, and nil otherwise.
func (p *Processor) OutputSchema() formats.Schema {
	s := slices.Clone(p.schema)
	if p.recipe.keepsPixels() {
		return s
	}
	for i, f := range s {
		if f.Kind == formats.Image || f.Kind == formats.Mask {
			s[i].DType, s[i].Shape = p.recipe.output(f)
		}
	}
	return s
}

// output is the element type of a field's images, and their shape if the recipe fixes it.
func (r Recipe) output(f formats.Field) (d formats.DType, shape []int) {
	h, w, c := -1, -1, -1
	if len(f.Shape) == 3 {
		h, w, c = f.Shape[0], f.Shape[1], f.Shape[2]
	}
	d = f.DType
	if f.Kind == formats.Image && r.color() != pixel.ColorKeep {
		d, c = formats.Uint8, r.color().Channels(c)
	}
	switch {
	case r.Resize.Mode == ResizeExact || r.Resize.Mode == ResizeCover:
		h, w = r.Resize.H, r.Resize.W
	case r.Resize.Mode != ResizeNone || r.exif() == pixel.EXIFApply:
		return d, nil
	}
	if r.Encode.Encoding != formats.Raw || r.Zstd != 0 || h < 0 || w < 0 || c < 0 {
		return d, nil
	}
	return d, []int{h, w, c}
}
