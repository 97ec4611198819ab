package fields

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/annotations"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/guard"
)

// boxFiles are files of boxes, one for each image: YOLO's .txt or Pascal VOC's .xml.
type boxFiles struct {
	set   *Set
	spec  *spec
	field int // its position in the Set
	boxFormat
	voc  *annotations.VOC  // the format, if it is Pascal VOC's
	yolo *annotations.YOLO // likewise YOLO's
}

// boxFormat reads a file of boxes: a *annotations.YOLO or a *annotations.VOC.
type boxFormat interface {
	Schema() formats.Schema
	Parse(data []byte, p *annotations.Picture) (list []annotations.Object, warning string, err error)
	Note() string
}

func newBoxFiles(set *Set, text string) (*boxFiles, error) {
	p, err := parsePattern(text)
	if err != nil {
		return nil, fmt.Errorf("--boxes %s: %w", text, err)
	}
	b := &boxFiles{set: set, spec: &spec{name: annotations.BoxesField, kind: formats.Boxes, pattern: p}}
	switch strings.ToLower(path.Ext(text)) {
	case ".txt":
		b.yolo = &annotations.YOLO{}
		b.boxFormat = b.yolo
	case ".xml":
		b.voc = &annotations.VOC{}
		b.boxFormat = b.voc
	default:
		return nil, fmt.Errorf("--boxes %s: the pattern ends in .txt (YOLO) or .xml (Pascal VOC); for COCO give the .json file", text)
	}
	b.spec.boxes = b
	return b, nil
}

// Read reads the file of a sample. For YOLO an image without a file has no objects.
func (b *boxFiles) Read(f *vfs.File, p *annotations.Picture, values []formats.Value) (warning string, err error) {
	one, err := b.find(f)
	if b.yolo != nil && errors.Is(err, errNoFile) {
		annotations.SetObjects(p, values, nil)
		return "", nil
	}
	var list []annotations.Object
	if err == nil {
		list, warning, err = b.parse(one, p)
	}
	if err != nil {
		return "", fmt.Errorf("field %s: %w", annotations.BoxesField, err)
	}
	annotations.SetObjects(p, values, list)
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
		h, w = b.voc.Size(data)
	}
	return h, w, true
}

func (b *boxFiles) content(one vfs.File) ([]byte, error) {
	if one.Size > annotations.MaxBoxFile {
		return nil, fmt.Errorf("%s: %d bytes are too many for the boxes of one image", one.Path, one.Size)
	}
	data, err := b.set.in.Read(one.Path, one.Size, one.ModTime, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", one.Path, err)
	}
	return data, nil
}

func (b *boxFiles) parse(one vfs.File, p *annotations.Picture) (list []annotations.Object, warning string, err error) {
	data, err := b.content(one)
	if err != nil {
		return nil, "", err
	}
	if list, warning, err = b.Parse(data, p); err != nil {
		return nil, "", fmt.Errorf("%s: %w", one.Path, err)
	}
	return list, warning, nil
}

func (b *boxFiles) Claim(*vfs.File) {}

func (b *boxFiles) Claimed() error { return nil }

// Identify: the files are those of a field, which the Set identifies.
func (b *boxFiles) Identify(*vfs.File, io.Writer) error { return nil }

func (b *boxFiles) Summary() annotations.Summary {
	s := b.set.summary(b.field)
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
		return b.yolo.FindNames(in, slices.Sorted(maps.Keys(folders)))
	}
	var readers errgroup.Group
	readers.SetLimit(vfs.MaxOpen)
	err := b.set.index.each(b.field, func(f vfs.File, _ bool) error {
		readers.Go(func() error {
			return guard.Do(func() error {
				data, err := in.Read(f.Path, f.Size, f.ModTime, nil)
				if err == nil && len(data) <= annotations.MaxBoxFile {
					b.voc.Learn(data) // else reading the sample reports the error
				}
				return nil
			})
		})
		return ctx.Err()
	})
	if err = errors.Join(err, readers.Wait()); err != nil {
		return err
	}
	b.voc.Finish()
	return nil
}
