package fields

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/image/codec"
)

// The names of the fields of objects in an image: where they are, and which class each is of.
const (
	boxesField     = "boxes"
	boxLabelsField = "box_labels"
)

// maxBoxFile bounds the size of a file with the boxes of one image.
const maxBoxFile = 16 << 20

// object is one object in an image. Its box is x0 y0 x1 y1 in pixels of the image as the annotations see it.
type object struct {
	box   [4]float32
	class int64
	// flag is COCO's iscrowd or VOC's difficult.
	flag bool
}

// objectSchema returns the fields of objects; flag is the name of the field for their flags, "" if none is set.
func objectSchema(classes []string, flag string) formats.Schema {
	s := formats.Schema{
		{Name: boxesField, Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		{Name: boxLabelsField, Kind: formats.Array, DType: formats.Int64, Shape: []int{-1}, Classes: classes},
	}
	if flag != "" {
		s = append(s, formats.Field{Name: flag, Kind: formats.Array, DType: formats.Uint8, Shape: []int{-1}})
	}
	return s
}

// setObjects sets the values of the fields of objectSchema, for the stored image.
func setObjects(p *picture, values []formats.Value, list []object) {
	boxes, classes := values[0].Alloc(16 * len(list))[:0], values[1].Alloc(8 * len(list))[:0]
	for i := range list {
		for _, x := range p.stored(list[i].box) {
			boxes = binary.LittleEndian.AppendUint32(boxes, math.Float32bits(x))
		}
		classes = binary.LittleEndian.AppendUint64(classes, uint64(list[i].class))
	}
	values[0].Encoding, values[0].DType = formats.Raw, formats.Float32
	values[0].SetShape(len(list), 4)
	values[1].Encoding, values[1].DType = formats.Raw, formats.Int64
	values[1].SetShape(len(list))
	if len(values) < 3 {
		return
	}
	flags := values[2].Alloc(len(list))
	for i := range list {
		flags[i] = 0
		if list[i].flag {
			flags[i] = 1
		}
	}
	values[2].Encoding, values[2].DType = formats.Raw, formats.Uint8
	values[2].SetShape(len(list))
}

// checkBox returns an error about a box that has no place in any image.
func checkBox(b [4]float32) error {
	for _, x := range b {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("a box has a coordinate that is no finite number")
		}
	}
	if b[2] < b[0] || b[3] < b[1] {
		return fmt.Errorf("a box has a negative width or height: %v", b)
	}
	return nil
}

// picture is the image that annotations are of, as it is stored. Whoever draws boxes sees an image upright, as its EXIF
// orientation says; a program that ignores EXIF sees it as it is stored.
type picture struct {
	h, w        int
	Orientation int // 1 to 8; 0 is upright too
	// Upright: the annotations are of the image when it is upright. Values are always of the image as it is stored.
	Upright bool
	err     error // why the header cannot be read
}

// pictureOf reads the header of an image.
func pictureOf(image *formats.Value) picture {
	_, h, err := codec.Inspect(image.Data)
	return picture{h: h.H, w: h.W, Orientation: h.Orientation, err: err}
}

// Tells reports whether what has h by w pixels is of the upright image; ok is false if its size does not tell.
func (p *picture) Tells(h, w int) (upright, ok bool) {
	if p.Orientation < 5 || p.w == p.h || w == h {
		return false, false
	}
	return (w > h) != (p.w > p.h), true
}

// frame is the size of the image as the annotations see it.
func (p *picture) frame() size {
	if p.Upright && p.Orientation >= 5 {
		return size{int32(p.h), int32(p.w)}
	}
	return size{int32(p.w), int32(p.h)}
}

// stored returns a box as it lies in the stored image.
func (p *picture) stored(b [4]float32) [4]float32 {
	if !p.Upright {
		return b
	}
	return codec.BoxToStored(b, p.h, p.w, p.Orientation)
}

// size is the width and the height of the image that annotations were made for, 0 if they do not say it.
type size struct{ w, h int32 }

// pixels is a width or a height as a tool wrote it: a number, a text, or nonsense, which is 0.
type pixels int32

func (p *pixels) UnmarshalJSON(b []byte) error {
	*p = parsePixels(strings.Trim(string(b), `"`))
	return nil
}

func parsePixels(text string) pixels {
	x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(x > 0 && x < 1<<31-1) {
		return 0
	}
	return pixels(x)
}

// check compares the size with that of the image. Annotations of another size are a warning, and an error if a box lies
// outside of the image by more than a pixel. If only such a box tells that they may be of another image, that is a warning.
func (s size) check(p *picture, list []object) (warning string, err error) {
	is := p.frame()
	if p.err != nil { // decoding the image returns it
		return "", nil //nolint:nilerr // see above
	}
	at := slices.IndexFunc(list, func(o object) bool {
		return min(o.box[0], o.box[1]) < -1 || o.box[2] > float32(is.w+1) || o.box[3] > float32(is.h+1)
	})
	known := s.w > 0 && s.h > 0 && s != is
	switch {
	case known && at >= 0:
		return "", fmt.Errorf("%s: the box %v is outside of it; scale the boxes as the images were, or give the images that they were made for", s.other(is), list[at].box)
	case known:
		return s.other(is) + ": they may be at other places", nil
	case at >= 0:
		return fmt.Sprintf("the box %v is outside of the image, which has %dx%d pixels: was it drawn on another one, or on this one turned?", list[at].box, is.w, is.h), nil
	}
	return "", nil
}

// other says that boxes are for another size than that of the image.
func (s size) other(is size) string {
	return fmt.Sprintf("the boxes are for an image of %dx%d pixels, and this one has %dx%d", s.w, s.h, is.w, is.h)
}

// Summary is folder.FieldSummary.
type Summary struct {
	Name string       `json:"name"`
	Kind formats.Kind `json:"kind"`
	From string       `json:"from"` // the pattern, or the files of annotations
	// Found counts the files or the entries for images, Missing the samples without one, and Unused the files and
	// entries that belong to no sample, of which Example is one.
	Found   int    `json:"found"`
	Missing int    `json:"missing,omitempty"`
	Unused  int    `json:"unused,omitempty"`
	Example string `json:"example,omitempty"`
	// Note says what else was found out, such as which classes the boxes have.
	Note string `json:"note,omitempty"`
	// Files are those of annotations, as FOLDER=FILE where they are for one folder; nil for a pattern.
	Files []string `json:"-"`
	// Why says why a sample has none, if all of them are Missing for a reason that is worth saying.
	Why string `json:"-"`
}

// annotation gives samples the values of one or more fields. Open comes first, then Claim of each sample and Claimed; Read
// and Identify are then safe for concurrent use.
type annotation interface {
	Schema() formats.Schema
	// Open is called when the files of the folder are known.
	Open(ctx context.Context, in vfs.FS) error
	// Size returns the size of the image that the annotations of a sample say; 0 if they do not. sized is false if
	// annotations of this kind never do.
	Size(f *vfs.File) (h, w int, sized bool)
	// Read sets the values of its fields for the sample whose image is the file f, with that picture.
	// The warning is about annotations that may be wrong; "" if there is none.
	Read(f *vfs.File, p *picture, values []formats.Value) (warning string, err error)
	// Claim counts a sample; it is for one goroutine.
	Claim(f *vfs.File)
	// Claimed is called when all samples are claimed. The error is about an entry that may be of several of them.
	Claimed() error
	// Identify writes what the values of a sample depend on.
	Identify(f *vfs.File, w io.Writer) error
	Summary() Summary
}
