package codec

import (
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/budget"
	"github.com/dsconv/dsconv/internal/image/buffer"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Encoder encodes images. It is for one goroutine and for many images; Close frees its memory.
type Encoder struct {
	jpeg  jpeg.Encoder
	png   pngEncoder
	zstd  *zstd.Encoder
	level int
}

// NewEncoder returns an Encoder. It allocates nothing before the first image.
func NewEncoder() *Encoder { return &Encoder{} }

// Close frees the Encoder's memory. It may be used again.
func (e *Encoder) Close() {
	e.jpeg.Close()
	*e = Encoder{}
}

// StopBy makes s end the encoding of a JPEG early, from now until Close.
func (e *Encoder) StopBy(s *pixel.Stop) { e.jpeg.Stop = s }

// AppendJPEG appends m as Pillow's save(quality=, subsampling=, optimize=, progressive=) writes
// it: JFIF without metadata, with restart markers if o has an Interval. m is uint8 with 1 or 3
// channels. Of o, Quality (1 to 100), Sampling, Optimize, Progressive and Interval are used.
func (e *Encoder) AppendJPEG(dst []byte, m *pixel.Image, o EncodeOptions) ([]byte, error) {
	const longest = 65500 // JPEG_MAX_DIMENSION
	switch err := m.Check(); {
	case err != nil:
		return dst, err
	case m.DType != formats.Uint8 || m.C != 1 && m.C != 3:
		return dst, fmt.Errorf("%w: JPEG cannot hold %d channels of %s: use PNG or raw pixels, decode it as RGB, or draw it over a background (package image/draw)", pixel.ErrUnsupported, m.C, m.DType)
	case m.H > longest || m.W > longest:
		return dst, fmt.Errorf("%w: JPEG cannot hold %dx%d pixels", pixel.ErrUnsupported, m.W, m.H)
	case o.Progressive && o.Interval > 0:
		return dst, fmt.Errorf("%w: a progressive JPEG cannot be tiled", pixel.ErrUnsupported)
	}
	o.Quality = min(max(o.Quality, 1), 100)
	return e.jpeg.Encode(dst, m, jpeg.EncodeOptions{Quality: o.Quality, Sampling: o.Sampling, Optimize: o.Optimize, Progressive: o.Progressive, Interval: o.Interval})
}

// appendPNG appends m, of any shape and type, as PNG with m's channels and depth, compressed for
// speed. Equal images give equal files.
func (e *Encoder) appendPNG(dst []byte, m *pixel.Image) ([]byte, error) {
	switch err := m.Check(); {
	case err != nil:
		return dst, err
	case m.H > math.MaxInt32 || m.W > math.MaxInt32:
		return dst, fmt.Errorf("%w: PNG cannot hold %dx%d pixels", pixel.ErrUnsupported, m.W, m.H)
	}
	return e.png.encode(dst, m)
}

// appendZstd appends raw as one zstd frame that records its size. Equal input gives equal
// output.
func (e *Encoder) appendZstd(dst, raw []byte, level int) ([]byte, error) {
	if e.zstd == nil || e.level != level {
		z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1),
			zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
		if err != nil {
			return dst, fmt.Errorf("start zstd: %w", err)
		}
		e.zstd, e.level = z, level
	}
	return e.zstd.EncodeAll(raw, dst), nil
}

// Encode encodes m to v and reuses v's memory. level is the zstd level for raw pixels, 0 for
// none.
func (e *Encoder) Encode(v *formats.Value, m *pixel.Image, enc EncodeOptions, level int) (err error) {
	data := v.Buffer()
	switch v.Encoding = enc.Encoding; {
	case enc.Encoding == formats.JPEG:
		data, err = e.AppendJPEG(data, m, enc)
	case enc.Encoding == formats.PNG:
		data, err = e.appendPNG(data, m)
	case enc.Encoding == formats.Raw && level > 0:
		v.Encoding = formats.RawZstd
		data, err = e.appendZstd(data, m.Pix, level)
	case enc.Encoding == formats.Raw:
		data = append(data, m.Pix...)
	default:
		return fmt.Errorf("%w: encoding %q", pixel.ErrUnsupported, enc.Encoding)
	}
	v.SetOwn(data)
	v.DType = m.DType
	v.SetShape(m.H, m.W, m.C)
	return err
}

// Memory estimates the bytes that encoding an image takes, with the result.
func (o EncodeOptions) Memory(h, w, c int, d formats.DType) int64 {
	switch {
	case o.Encoding == formats.Raw:
		return budget.ImageBytes(h, w, 2*c*d.Size()) // and a copy by the writer
	case o.Encoding == formats.PNG:
		return budget.ImageBytes(pngFilters+3, w, c*d.Size()) // rows
	case o.Optimize || o.Progressive:
		return budget.ImageBytes(h, w, o.coefficientBytes(c))
	}
	return 0
}

// coefficientBytes is the memory of a pixel's coefficients.
func (o EncodeOptions) coefficientBytes(channels int) int {
	switch {
	case channels == 1:
		return 2
	case o.Sampling == pixel.Sampling444:
		return 2 * 3
	case o.Sampling == pixel.Sampling422:
		return 2 * 2
	}
	return 3
}

// Shrink frees large buffers.
func (e *Encoder) Shrink() {
	r := &e.png.rows
	r.blank = buffer.DropLarge(r.blank)
	for i := range r.out {
		r.out[i] = buffer.DropLarge(r.out[i])
	}
	for i := range e.png.bigEndian {
		e.png.bigEndian[i] = buffer.DropLarge(e.png.bigEndian[i])
	}
}
