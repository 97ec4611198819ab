package preprocess

import (
	"bytes"
	"fmt"
	"image"
	"image/png"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
)

// Encoder encodes images. It belongs to one goroutine and is made for long use; Close frees
// what it holds.
type Encoder struct {
	jpeg  jpegEncoder
	png   *png.Encoder
	zstd  *zstd.Encoder
	level int
}

// NewEncoder returns an Encoder; it holds nothing before the first image.
func NewEncoder() *Encoder { return &Encoder{} }

// Close frees the Encoder's memory. It may be used again.
func (e *Encoder) Close() {
	e.jpeg.close()
	*e = Encoder{}
}

// AppendJPEG appends m as Pillow's save(quality=quality) writes it: 4:2:0, standard Huffman
// tables, JFIF, nothing else. m is uint8 with 1 or 3 channels, quality 1 to 100.
func (e *Encoder) AppendJPEG(dst []byte, m *Image, quality int) ([]byte, error) {
	const longest = 65500 // JPEG_MAX_DIMENSION
	switch err := m.check(); {
	case err != nil:
		return dst, err
	case m.DType != formats.Uint8 || m.C != 1 && m.C != 3:
		return dst, fmt.Errorf("%w: JPEG cannot hold %d channels of %s: choose png or raw, or color rgb", ErrUnsupported, m.C, m.DType)
	case m.H > longest || m.W > longest:
		return dst, fmt.Errorf("%w: JPEG cannot hold %dx%d pixels", ErrUnsupported, m.W, m.H)
	}
	return e.jpeg.encode(dst, m, min(max(quality, 1), 100))
}

// AppendPNG appends m, of any shape and type, as PNG, compressed for speed. PNG by this
// encoder has no grey with alpha: m.C == 2 becomes 4 channels.
func (e *Encoder) AppendPNG(dst []byte, m *Image) ([]byte, error) {
	if err := m.check(); err != nil {
		return dst, err
	}
	if e.png == nil {
		e.png = &png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &pngPool{}}
	}
	img := toStdlib(m)
	if m.C == 2 || m.C == 4 {
		img = withAlpha{img}
	}
	b := bytes.NewBuffer(dst)
	if err := e.png.Encode(b, img); err != nil {
		return dst, fmt.Errorf("encode PNG: %w", err)
	}
	return b.Bytes(), nil
}

// withAlpha hides from the PNG encoder that an image is opaque, so that the number of
// channels in the file never depends on the pixels.
type withAlpha struct{ image.Image }

func (withAlpha) Opaque() bool { return false }

// pngPool keeps the encoder's buffers between images.
type pngPool struct{ b *png.EncoderBuffer }

func (p *pngPool) Get() *png.EncoderBuffer  { return p.b }
func (p *pngPool) Put(b *png.EncoderBuffer) { p.b = b }

// AppendZstd appends raw as one zstd frame that states its size. Equal input gives equal
// output.
func (e *Encoder) AppendZstd(dst, raw []byte, level int) ([]byte, error) {
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

// Encode makes v the image m in the given encoding and reuses v's memory. level is zstd's
// for raw pixels, 0 for none.
func (e *Encoder) Encode(v *formats.Value, m *Image, enc Encode, level int) (err error) {
	c := m.C
	v.Data = v.Data[:0]
	switch v.Encoding = enc.Encoding; {
	case enc.Encoding == formats.JPEG:
		v.Data, err = e.AppendJPEG(v.Data, m, enc.Quality)
	case enc.Encoding == formats.PNG:
		v.Data, err = e.AppendPNG(v.Data, m)
		if c == 2 {
			c = 4
		}
	case enc.Encoding == formats.Raw && level > 0:
		v.Encoding = formats.RawZstd
		v.Data, err = e.AppendZstd(v.Data, m.Pix, level)
	case enc.Encoding == formats.Raw:
		v.Data = append(v.Data, m.Pix...)
	default:
		return fmt.Errorf("%w: encoding %q", ErrUnsupported, enc.Encoding)
	}
	v.DType = m.DType
	v.Shape = append(v.Shape[:0], m.H, m.W, c)
	return err
}
