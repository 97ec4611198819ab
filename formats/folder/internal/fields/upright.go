package fields

import (
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/annotations"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/image/codec"
)

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
func (s *Set) drawnUpright(p *annotations.Picture, field string, h, w int, d *drawing, size func(f *vfs.File) (h, w int)) (upright bool, warning string) {
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
		p := annotations.PictureOf(&formats.Value{Data: data})
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
func (s *Set) toStored(i int, p *annotations.Picture, v *formats.Value) (warning string, err error) {
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
			values := s.places.values(f)
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
func (s *Set) annotate(k int, f *vfs.File, p annotations.Picture, values []formats.Value) (warning string, err error) {
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
