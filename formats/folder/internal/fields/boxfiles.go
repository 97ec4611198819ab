package fields

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/guard"
)

// boxFiles are files of boxes, one for each image: YOLO's .txt or Pascal VOC's .xml.
type boxFiles struct {
	set   *Set
	spec  *spec
	field int // its position in the Set
	boxFormat
	voc  *voc  // the format, if it is Pascal VOC's
	yolo *yolo // likewise YOLO's
}

// boxFormat reads a file of boxes: a *YOLO or a *VOC.
type boxFormat interface {
	Schema() formats.Schema
	Parse(data []byte, p *picture) (list []object, warning string, err error)
	Note() string
}

func newBoxFiles(set *Set, text string) (*boxFiles, error) {
	p, err := parsePattern(text)
	if err != nil {
		return nil, fmt.Errorf("--boxes %s: %w", text, err)
	}
	b := &boxFiles{set: set, spec: &spec{name: boxesField, kind: formats.Boxes, pattern: p}}
	switch strings.ToLower(path.Ext(text)) {
	case ".txt":
		b.yolo = &yolo{}
		b.boxFormat = b.yolo
	case ".xml":
		b.voc = &voc{}
		b.boxFormat = b.voc
	default:
		return nil, fmt.Errorf("--boxes %s: the pattern ends in .txt (YOLO) or .xml (Pascal VOC); for COCO give the .json file", text)
	}
	b.spec.boxes = b
	return b, nil
}

// Read reads the file of a sample. For YOLO an image without a file has no objects.
func (b *boxFiles) Read(f *vfs.File, p *picture, values []formats.Value) (warning string, err error) {
	one, err := b.find(f)
	if b.yolo != nil && errors.Is(err, errNoFile) {
		setObjects(p, values, nil)
		return "", nil
	}
	var data []byte
	if err == nil {
		data, err = b.content(one)
	}
	var list []object
	if err == nil {
		if list, warning, err = b.Parse(data, p); err != nil {
			err = fmt.Errorf("%s: %w", one.Path, err)
		}
	}
	if err != nil {
		return "", fmt.Errorf("field %s: %w", boxesField, err)
	}
	setObjects(p, values, list)
	return warning, nil
}

// find returns the file of a sample.
func (b *boxFiles) find(f *vfs.File) (vfs.File, error) {
	v := b.set.values(f)
	one, _, err := b.set.index.find(b.field, b.spec.expand(&v, f))
	return one, err
}

// Size returns the size that an annotation of Pascal VOC says.
func (b *boxFiles) Size(f *vfs.File) (h, w int, sized bool) {
	if b.voc == nil {
		return 0, 0, false
	}
	one, err := b.find(f)
	if err != nil {
		return 0, 0, true // Read returns the error
	}
	data, err := b.content(one)
	if err == nil {
		h, w = b.voc.size(data)
	}
	return h, w, true
}

func (b *boxFiles) content(one vfs.File) ([]byte, error) {
	if one.Size > maxBoxFile {
		return nil, fmt.Errorf("%s: %d bytes are too many for the boxes of one image", one.Path, one.Size)
	}
	return one.Read(b.set.in, nil)
}

func (b *boxFiles) Claim(*vfs.File) {}

func (b *boxFiles) Claimed() error { return nil }

// Identify: the files are those of a field, which the Set identifies.
func (b *boxFiles) Identify(*vfs.File, io.Writer) error { return nil }

func (b *boxFiles) Summary() Summary {
	s := b.spec.summary()
	if s.Note = b.Note(); s.Missing > 0 && b.yolo != nil {
		s.Note += fmt.Sprintf("; %d images without a file have no boxes", s.Missing)
	}
	return s
}

// Open finds YOLO's class names, or reads all annotations of VOC for theirs.
func (b *boxFiles) Open(ctx context.Context, in vfs.FS) error {
	if b.yolo != nil {
		folder, _, _ := strings.Cut(b.spec.pattern.text, "{")
		folders := map[string]bool{path.Dir(folder + "x"): true}
		err := b.set.index.each(b.field, func(f vfs.File, _ bool) error {
			folders[path.Dir(f.Path)] = true
			return ctx.Err()
		})
		if err != nil {
			return err
		}
		return b.yolo.findNames(in, slices.Sorted(maps.Keys(folders)))
	}
	var readers errgroup.Group
	readers.SetLimit(vfs.MaxOpen)
	err := b.set.index.each(b.field, func(f vfs.File, _ bool) error {
		readers.Go(func() error {
			return guard.Do(func() error {
				data, err := in.Read(f.Path, f.Size, f.ModTime, nil)
				if err == nil && len(data) <= maxBoxFile {
					b.voc.learn(data) // else reading the sample reports the error
				}
				return nil
			})
		})
		return ctx.Err()
	})
	if err = errors.Join(err, readers.Wait()); err != nil {
		return err
	}
	b.voc.classes = slices.Sorted(maps.Keys(b.voc.names))
	b.voc.index = labels.IndexOf(b.voc.classes)
	return nil
}

// voc reads Pascal VOC's files of boxes, one for each image. The classes are those that occur in them.
type voc struct {
	mu      sync.Mutex
	names   map[string]bool
	classes []string
	index   map[string]int64
	flag    string // the field of difficult objects, if there are any
}

// Schema returns the fields of the objects, when all annotations are learnt.
func (v *voc) Schema() formats.Schema { return objectSchema(v.classes, v.flag) }

// Note says what was found.
func (v *voc) Note() string { return fmt.Sprintf("%d classes", len(v.classes)) }

// vocObject is an <object> of a Pascal VOC annotation.
type vocObject struct {
	Name      string `xml:"name"`
	Difficult string `xml:"difficult"`
	Box       *struct {
		XMin string `xml:"xmin"`
		YMin string `xml:"ymin"`
		XMax string `xml:"xmax"`
		YMax string `xml:"ymax"`
	} `xml:"bndbox"`
}

// vocFile is a Pascal VOC annotation.
type vocFile struct {
	XMLName xml.Name    `xml:"annotation"`
	Width   string      `xml:"size>width"`
	Height  string      `xml:"size>height"`
	Objects []vocObject `xml:"object"`
}

func decodeVOC(data []byte) (a vocFile, err error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // names are ASCII in practice
	if err := d.Decode(&a); err != nil {
		return vocFile{}, fmt.Errorf("not a Pascal VOC annotation: %w", err)
	}
	return a, nil
}

// Parse returns the objects of an annotation. VOC counts pixels from 1 and its corners are inside the box, so
// that a box of the first pixel is 1 1 1 1; here it is 0 0 1 1.
func (v *voc) Parse(data []byte, p *picture) (list []object, warning string, err error) {
	a, err := decodeVOC(data)
	if err == nil {
		list, err = v.objects(a.Objects)
	}
	if err != nil {
		return nil, "", err
	}
	warning, err = a.size().check(p, list)
	return list, warning, err
}

func (a *vocFile) size() size { return size{int32(parsePixels(a.Width)), int32(parsePixels(a.Height))} }

// size returns the size of the image that an annotation says, 0 if it says none.
func (v *voc) size(data []byte) (h, w int) {
	a, _ := decodeVOC(data) // reading the sample reports the error
	s := a.size()
	return int(s.h), int(s.w)
}

func (v *voc) objects(found []vocObject) ([]object, error) {
	list := make([]object, len(found))
	for i := range found {
		o := &found[i]
		if o.Box == nil {
			return nil, fmt.Errorf("the object %d (%s) has no bndbox", i+1, o.Name)
		}
		for k, text := range []string{o.Box.XMin, o.Box.YMin, o.Box.XMax, o.Box.YMax} {
			x, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
			if err != nil || math.IsInf(x, 0) {
				return nil, fmt.Errorf("the object %d (%s) has the coordinate %q", i+1, o.Name, text)
			}
			if k < 2 {
				x--
			}
			list[i].box[k] = float32(x)
		}
		if err := checkBox(list[i].box); err != nil {
			return nil, err
		}
		class, ok := v.index[strings.TrimSpace(o.Name)]
		if !ok {
			return nil, fmt.Errorf("the class %q is new since the annotations were listed", o.Name)
		}
		list[i].class, list[i].flag = class, strings.TrimSpace(o.Difficult) == "1"
	}
	return list, nil
}

// learn adds the classes of the objects of an annotation. It is safe for concurrent use.
func (v *voc) learn(data []byte) {
	a, _ := decodeVOC(data) // reading the sample reports the error
	list := a.Objects
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.names == nil {
		v.names = map[string]bool{}
	}
	for i := range list {
		v.names[strings.TrimSpace(list[i].Name)] = true
		if strings.TrimSpace(list[i].Difficult) == "1" {
			v.flag = "box_difficult"
		}
	}
}
