package fields

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// maxCOCOItem bounds an image, an annotation or a category of a COCO file: one is decoded at a time.
const maxCOCOItem = 16 << 20

// maxDepth bounds what is nested in members that are skipped.
const maxDepth = 10_000

// cocoID is the id of an image or a category: a number, or a text with some tools.
type cocoID string

func (id *cocoID) UnmarshalJSON(b []byte) error {
	*id = cocoID(strings.Trim(string(b), `"`))
	return nil
}

// cocoFlag is 0, 1, false or true.
type cocoFlag bool

func (f *cocoFlag) UnmarshalJSON(b []byte) error {
	*f = string(b) == "1" || string(b) == "true"
	return nil
}

type cocoCategory struct {
	ID   cocoID `json:"id"`
	Name string `json:"name"`
}

type cocoAnnotation struct {
	Image    cocoID    `json:"image_id"`
	Category cocoID    `json:"category_id"`
	Box      []float64 `json:"bbox"`
	Crowd    cocoFlag  `json:"iscrowd"`
	Caption  *string   `json:"caption"`
	Segments segments  `json:"segments_info"`
	Outline  present   `json:"segmentation"`
	Points   present   `json:"keypoints"`
	Turned   turned    `json:"attributes"`
}

// turned reports whether an annotation's box has an angle, as CVAT writes it, which is not read.
type turned bool

func (t *turned) UnmarshalJSON(b []byte) error {
	var a struct {
		Rotation float64 `json:"rotation"`
	}
	*t = json.Unmarshal(b, &a) == nil && a.Rotation != 0
	return nil
}

// present reports whether an annotation has a value that is not read.
type present bool

func (p *present) UnmarshalJSON(b []byte) error {
	*p = len(b) > len("[]") && string(b) != "null"
	return nil
}

// segments reports whether an annotation has the segments of a panoptic file, which are not read.
type segments bool

func (s *segments) UnmarshalJSON([]byte) error {
	*s = true
	return nil
}

// check returns an error if a file has annotations and none has what want is about, but has what other annotations have.
func (f *cocoFile) check(want string) error {
	if f.total == 0 || f.has[want] {
		return nil
	}
	switch {
	case f.has["caption"]:
		return errors.New("it has no boxes (its annotations have caption): give it by --captions")
	case f.has["segments_info"]:
		return fmt.Errorf("it has no %s (its annotations have segments_info, of panoptic segmentation): the file with the boxes is instances_*.json, "+
			"the one with the captions captions_*.json", thing[want])
	case f.has["bbox"]:
		return errors.New("it has no captions (its annotations have bbox): give it by --boxes")
	}
	return fmt.Errorf("it has no %s (none of its %d annotations has %s)", thing[want], f.total, want)
}

// thing is what annotations with a member are.
var thing = map[string]string{"bbox": "boxes", "caption": "captions"}

// box returns x0 y0 x1 y1 of COCO's x y width height.
func (a *cocoAnnotation) box() (b [4]float32, err error) {
	if len(a.Box) != 4 {
		return b, fmt.Errorf("an annotation's bbox has %d numbers, want 4", len(a.Box))
	}
	x, y, w, h := a.Box[0], a.Box[1], a.Box[2], a.Box[3]
	return [4]float32{float32(x), float32(y), float32(x + w), float32(y + h)}, nil
}

// cocoFile reads one file. Annotations may come before the images that they are about.
type cocoFile struct {
	ctx        context.Context
	images     *cocoImages
	annotation func(image int32, a *cocoAnnotation) error

	ids        map[cocoID]int32
	listed     map[cocoID]bool
	categories []cocoCategory
	numbers    map[cocoID]int64 // of the categories of annotations
	unknown    []cocoID
	total      int             // of annotations
	has        map[string]bool // members that some of them have
	decoder    *json.Decoder
	limit      *itemReader
}

// itemReader ends the reading of an item that is too long.
type itemReader struct {
	io.Reader
	left int
}

func (r *itemReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, fmt.Errorf("an entry of more than %d bytes", maxCOCOItem)
	}
	n, err := r.Reader.Read(p)
	r.left -= n
	return n, err
}

// read reads the next file of images. want is the member that its annotations must have.
func (f *cocoFile) read(in vfs.FS, name, want string) error {
	file, err := f.images.open(in, name)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := f.readFrom(file); err != nil {
		return err
	}
	return f.check(want)
}

func (f *cocoFile) readFrom(r io.Reader) error {
	f.ids, f.listed, f.numbers, f.has = map[cocoID]int32{}, map[cocoID]bool{}, map[cocoID]int64{}, map[string]bool{}
	f.limit = &itemReader{bufio.NewReaderSize(r, 1<<20), maxCOCOItem}
	f.decoder = json.NewDecoder(f.limit)
	if err := f.sections(); err != nil {
		return fmt.Errorf("at byte %d: %w", f.decoder.InputOffset(), err)
	}
	for id, image := range f.ids {
		if !f.listed[id] {
			f.images.stray++
			f.images.strayExample = cmp.Or(f.images.strayExample, "image_id "+string(id))
			f.images.entries[image].name = ""
		}
	}
	return nil
}

// sections reads the members of the file's object.
func (f *cocoFile) sections() error {
	const want = `not a file of COCO: it must be an object with "images" and "annotations"`
	if t, err := f.token(); err != nil || t != json.Delim('{') {
		return errors.Join(errors.New(want), err)
	}
	seen := map[string]bool{}
	for f.decoder.More() {
		t, err := f.token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		seen[name] = true
		switch name {
		case "images":
			err = eachItem(f, f.image)
		case "annotations":
			err = eachItem(f, f.annotated)
		case "categories":
			err = eachItem(f, func(k *cocoCategory) error { f.categories = append(f.categories, *k); return nil })
		default:
			err = f.skip()
		}
		if err != nil {
			return err
		}
	}
	if _, err := f.token(); err != nil {
		return err
	}
	if !seen["images"] || !seen["annotations"] {
		return errors.New(want)
	}
	return nil
}

func (f *cocoFile) token() (json.Token, error) {
	f.limit.left = maxCOCOItem
	return f.decoder.Token()
}

// skip reads a value of any size.
func (f *cocoFile) skip() error {
	for depth := 0; ; {
		t, err := f.token()
		if err != nil {
			return err
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		switch {
		case depth == 0:
			return f.ctx.Err()
		case depth > maxDepth:
			return fmt.Errorf("more than %d nested lists", maxDepth)
		}
	}
}

// eachItem calls yield for each element of a list.
func eachItem[T any](f *cocoFile, yield func(*T) error) error {
	t, err := f.token()
	if err != nil {
		return err
	}
	if t != json.Delim('[') {
		return fmt.Errorf("a list is expected, not %v", t)
	}
	for f.decoder.More() {
		f.limit.left = maxCOCOItem
		var item T
		if err := f.decoder.Decode(&item); err != nil {
			return err
		}
		if err := errors.Join(yield(&item), f.ctx.Err()); err != nil {
			return err
		}
	}
	_, err = f.token()
	return err
}

func (f *cocoFile) image(i *struct {
	ID   cocoID `json:"id"`
	File string `json:"file_name"`
	W    pixels `json:"width"`
	H    pixels `json:"height"`
},
) error {
	if i.File == "" {
		return fmt.Errorf("the image %s has no file_name", i.ID)
	}
	if f.listed[i.ID] {
		return fmt.Errorf("two images have the id %s", i.ID)
	}
	f.listed[i.ID] = true
	e := &f.images.entries[f.number(i.ID)]
	e.name, e.size = path.Clean(strings.ReplaceAll(i.File, "\\", "/")), size{int32(i.W), int32(i.H)}
	return nil
}

func (f *cocoFile) annotated(a *cocoAnnotation) error {
	if a.Image == "" {
		return errors.New("an annotation has no image_id")
	}
	f.total++
	f.has["bbox"] = f.has["bbox"] || a.Box != nil
	f.has["caption"] = f.has["caption"] || a.Caption != nil
	f.has["segments_info"] = f.has["segments_info"] || bool(a.Segments)
	return f.annotation(f.number(a.Image), a)
}

// number returns the number of the image with the id.
func (f *cocoFile) number(id cocoID) int32 {
	n, ok := f.ids[id]
	if !ok {
		n = int32(min(len(f.images.entries), math.MaxInt32))
		f.ids[id] = n
		f.images.entries = append(f.images.entries, cocoEntry{file: int32(len(f.images.files) - 1)})
	}
	return n
}

// category returns the number of a category for denseCategories.
func (f *cocoFile) category(id cocoID) int64 {
	n, ok := f.numbers[id]
	if !ok {
		n = int64(len(f.unknown))
		f.numbers[id] = n
		f.unknown = append(f.unknown, id)
	}
	return n
}

// denseCategories sorts the categories by id, and returns the class index of each number of category.
func (f *cocoFile) denseCategories() []int64 {
	slices.SortFunc(f.categories, func(a, b cocoCategory) int {
		x, errX := strconv.ParseInt(string(a.ID), 10, 64)
		y, errY := strconv.ParseInt(string(b.ID), 10, 64)
		if errX != nil || errY != nil {
			return strings.Compare(string(a.ID), string(b.ID))
		}
		return cmp.Compare(x, y)
	})
	dense := make([]int64, len(f.unknown))
	for i, id := range f.unknown {
		dense[i] = int64(slices.IndexFunc(f.categories, func(k cocoCategory) bool { return k.ID == id }))
	}
	return dense
}
