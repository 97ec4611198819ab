package fields

import (
	"encoding/binary"
	"errors"
	"fmt"
	"path"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/legible"
	"github.com/dsconv/dsconv/internal/storage/npy"
	"github.com/dsconv/dsconv/internal/wire"
)

// readFile sets v to the file of a field.
func (s *Set) readFile(i int, segments []string, v *formats.Value) error {
	f := s.specs[i]
	one, _, err := s.index.find(i, segments)
	if err != nil {
		return err
	}
	data, err := one.Read(s.in, v.Buffer())
	if v.SetOwn(data); err != nil {
		return err
	}
	if err := f.interpret(v, strings.EqualFold(path.Ext(one.Path), ".npy")); err != nil {
		return fmt.Errorf("%s: %w", one.Path, err)
	}
	return nil
}

// interpret sets the type of v, the content of a file of the field.
func (f *spec) interpret(v *formats.Value, isArray bool) error {
	v.Encoding, v.DType = formats.Plain, ""
	v.SetShape()
	switch f.kind {
	case formats.Image, formats.Mask:
		if !isArray {
			v.Encoding = formats.Sniff(v.Data)
			if v.Encoding == "" {
				return errors.New("not an image that dsconv reads")
			}
			return nil
		}
		return f.pixels(v)
	case formats.Boxes, formats.Array:
	default:
		if err := legible.CheckPlain(f.kind, v.Data); err != nil {
			return fmt.Errorf("%w; kind=bytes takes it as it is", err)
		}
		return nil
	}
	t, shape, offset, err := npy.Parse(v.Data)
	if err != nil {
		return err
	}
	v.Data, v.Encoding, v.DType = v.Data[offset:], formats.Raw, t
	v.SetShape(shape...)
	if f.kind == formats.Array && (t != f.dtype || len(shape) != len(f.shape)) {
		return fmt.Errorf("an array of %s with %d dimensions; other samples have %s with %d", t, len(shape), f.dtype, len(f.shape))
	}
	if f.kind == formats.Boxes && (t != formats.Float32 || len(shape) != 2 || shape[1] != 4) {
		return fmt.Errorf("boxes are float32 of shape (N,4), not %s %v", t, shape)
	}
	return nil
}

// wholeNumbers are the types of masks in .npy files, by NumPy's names, that are stored as others, and their sizes: those of
// one byte as uint8, the rest as uint16. The type must not depend on the values: a Loader's masks all have the same.
var wholeNumbers = map[string]int{"|b1": 1, "|i1": 1, "<i2": 2, "<i4": 4, "<u4": 4, "<i8": 8, "<u8": 8}

const maskValues = "a mask has whole numbers from 0 to 65535; kind=array takes it as it is"

// pixels sets v, an .npy file, to the pixels that it has. Its memory is v's own.
func (f *spec) pixels(v *formats.Value) error {
	h, err := npy.ReadHeader(v.Data)
	if err != nil {
		return err
	}
	if len(h.Shape) != 2 && len(h.Shape) != 3 {
		return fmt.Errorf("an array of shape %v: pixels have height and width, and channels or none", h.Shape)
	}
	size, narrowed := wholeNumbers[h.Descr]
	switch {
	case h.Descr == "|u1" || h.Descr == "<u2":
		var offset int
		v.DType, _, offset, err = npy.Parse(v.Data)
		v.Data = v.Data[offset:]
	case narrowed && f.kind == formats.Mask:
		if v.Data, err = h.Elements(v.Data, size); err == nil {
			err = narrow(v, size, h.Descr[1] == 'i')
		}
	case f.kind == formats.Mask:
		err = fmt.Errorf("an array of %q: %s", h.Descr, maskValues)
	default:
		err = fmt.Errorf("an array of %q: an image has pixels of uint8 or uint16; kind=array takes it as it is", h.Descr)
	}
	if err != nil {
		return err
	}
	if len(h.Shape) == 2 {
		h.Shape = append(h.Shape, 1)
	}
	v.Encoding = formats.Raw
	v.SetShape(h.Shape...)
	return nil
}

// narrow makes uint8 or uint16 of the elements of v, of size bytes each, in their own memory.
func narrow(v *formats.Value, size int, signed bool) error {
	limit := int64(255)
	if v.DType = formats.Uint8; size > 1 {
		v.DType, limit = formats.Uint16, 65535
	}
	to := v.DType.Size()
	n := len(v.Data) / size
	for i := range n {
		x := wire.Int(v.Data[i*size:(i+1)*size], signed) // a uint64 that is too large is below 0
		if x < 0 || x > limit {
			return fmt.Errorf("the value %d: %s", x, maskValues)
		}
		if to == 1 {
			v.Data[i] = byte(x)
		} else {
			binary.LittleEndian.PutUint16(v.Data[2*i:], uint16(x))
		}
	}
	v.Data = v.Data[:n*to]
	return nil
}

// Where the size of a mask or of annotations does not tell whether they are of the image as it is stored or upright, the
// first maxVoters images of the folder are asked, until enoughVotes of them tell.
const (
	maxVoters   = 256
	enoughVotes = 8
)

// drawing is how most masks of a field, or annotations of a kind, were made: found out when an image needs it.
type drawing struct {
	once          sync.Once
	told, upright bool
}

// drawnUpright reports whether a value of h by w pixels, 0 if that is unknown, is of p upright. d is how others of the
// field were made, whose sizes size returns. The warning says what decided, if that was not the value's own size.
func (s *Set) drawnUpright(p *picture, field string, h, w int, d *drawing, size func(f *vfs.File) (h, w int)) (upright bool, warning string) {
	if p.Orientation < 2 {
		return false, ""
	}
	if upright, ok := p.Tells(h, w); ok {
		return upright, ""
	}
	d.once.Do(func() { d.upright, d.told = s.vote(size) })
	why := "taken as upright, as programs for annotation show it"
	switch {
	case d.told && d.upright:
		why = "taken as upright, as in other images here"
	case d.told:
		why = "taken as stored, as in other images here"
	}
	return d.upright || !d.told, fmt.Sprintf("field %s: its size does not tell whether it is of the image as stored, or upright by the EXIF orientation %d: %s", field, p.Orientation, why)
}

// vote asks other images.
func (s *Set) vote(size func(f *vfs.File) (h, w int)) (upright, told bool) {
	votes, yes := 0, 0
	for i := 0; i < len(s.voters) && votes < enoughVotes; i++ {
		f := &s.voters[i]
		data, err := s.in.Read(f.Path, f.Size, f.ModTime, nil)
		if err != nil {
			continue // reading its sample reports the error
		}
		p := pictureOf(&formats.Value{Data: data})
		if p.Orientation < 5 {
			continue // so that no annotation is read in vain
		}
		if upright, ok := p.Tells(size(f)); ok {
			votes++
			if upright {
				yes++
			}
		}
	}
	return 2*yes >= votes, votes > 0
}

// toStored makes of a mask or an extra image that is of the upright picture the one of the stored picture.
func (s *Set) toStored(i int, p *picture, v *formats.Value) (warning string, err error) {
	options := codec.MaskOptions()
	kind := s.specs[i].kind
	switch {
	case p.Orientation < 2 || kind != formats.Mask && kind != formats.Image:
		return "", nil
	case kind == formats.Image:
		options.Indices = false
	}
	h, w, orientation := sizeOf(v)
	upright, ok := p.Tells(h, w)
	if !ok && kind == formats.Mask && orientation != p.Orientation {
		upright, warning = s.drawnUpright(p, s.specs[i].name, h, w, &s.drawings[i], func(f *vfs.File) (h, w int) {
			var one formats.Value
			values := s.values(f)
			if err := s.readFile(i, s.specs[i].expand(&values, f), &one); err == nil {
				h, w, _ = sizeOf(&one)
			}
			return h, w
		})
	}
	if upright {
		err = codec.ToStored(v, p.Orientation, options)
	}
	return warning, err
}

// sizeOf returns the size of an image, 0 if its header cannot be read, and its own EXIF orientation.
func sizeOf(v *formats.Value) (h, w, orientation int) {
	if v.Encoding.IsRaw() && len(v.Shape) > 1 {
		return v.Shape[0], v.Shape[1], 0
	}
	_, header, _ := codec.Inspect(v.Data) // decoding it reports the error
	return header.H, header.W, header.Orientation
}

// annotate reads the annotation of a sample with the values of its fields.
func (s *Set) annotate(k int, f *vfs.File, p picture, values []formats.Value) (warning string, err error) {
	a := s.annotations[k]
	if p.Orientation >= 2 {
		h, w, sized := a.Size(f)
		if p.Upright = !sized; sized {
			p.Upright, warning = s.drawnUpright(&p, a.Schema()[0].Name, h, w, &s.drawings[len(s.specs)+k], func(f *vfs.File) (int, int) {
				h, w, _ := a.Size(f)
				return h, w
			})
		}
	}
	doubt, err := a.Read(f, &p, values)
	if warning != "" && doubt != "" {
		doubt = "; " + doubt
	}
	return warning + doubt, err
}
