package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/parallel"
)

// boxFiles are files of boxes, one for each image: YOLO's .txt or Pascal VOC's .xml.
type boxFiles struct {
	set    *fieldSet
	spec   *fieldSpec
	field  int // its position in the fieldSet
	format boxFormat
	voc    *voc  // the format, if it is Pascal VOC's
	yolo   *yolo // likewise YOLO's
}

// boxFormat reads a file of boxes.
type boxFormat interface {
	schema() formats.Schema
	parse(data []byte, image *formats.Value) ([]object, error)
	note() string
}

func newBoxFiles(set *fieldSet, text string) (*boxFiles, error) {
	p, err := parseFieldPattern(text)
	if err != nil {
		return nil, fmt.Errorf("--boxes %s: %w", text, err)
	}
	b := &boxFiles{set: set, spec: &fieldSpec{name: boxesField, kind: formats.Boxes, pattern: p}}
	switch strings.ToLower(path.Ext(text)) {
	case ".txt":
		b.yolo = &yolo{}
		b.format = b.yolo
	case ".xml":
		b.voc = &voc{}
		b.format = b.voc
	default:
		return nil, fmt.Errorf("--boxes %s: the pattern ends in .txt (YOLO) or .xml (Pascal VOC); for COCO give the .json file", text)
	}
	b.spec.boxes = b
	return b, nil
}

func (b *boxFiles) schema() formats.Schema { return b.format.schema() }

// read reads the file of a sample. For YOLO an image without a file has no objects.
func (b *boxFiles) read(f *file, image *formats.Value, values []formats.Value) error {
	v := b.set.places.values(f)
	one, _, err := b.set.index.find(b.field, b.spec.expand(&v, f))
	if b.yolo != nil && errors.Is(err, errNoFile) {
		setObjects(values, nil)
		return nil
	}
	var list []object
	if err == nil {
		list, err = b.parse(one, image)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", boxesField, err)
	}
	setObjects(values, list)
	return nil
}

func (b *boxFiles) parse(one file, image *formats.Value) ([]object, error) {
	if one.size > maxBoxFile {
		return nil, fmt.Errorf("%s: %d bytes are too many for the boxes of one image", one.path, one.size)
	}
	data, err := b.set.in.read(one.path, one.size, one.modTime, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", one.path, err)
	}
	list, err := b.format.parse(data, image)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.path, err)
	}
	return list, nil
}

func (b *boxFiles) claim(*file) {}

// identify: the files are those of a field, which the fieldSet identifies.
func (b *boxFiles) identify(*file, io.Writer) error { return nil }

// isNames reports whether a file of the pattern has class names, not boxes.
func (b *boxFiles) isNames(rel string) bool { return isClassNames(rel) }

func (b *boxFiles) summary() annSummary {
	s := b.set
	note := b.format.note()
	if n := s.missing[b.field]; n > 0 && b.yolo != nil {
		note += fmt.Sprintf("; %d images without a file have no boxes", n)
	}
	return annSummary{
		name: boxesField, kind: formats.Boxes, from: b.spec.pattern.text, found: s.found[b.field], missing: s.missing[b.field],
		unused: s.unused[b.field], example: s.orphans[b.field], note: note,
	}
}

// open finds YOLO's class names, or reads all annotations of VOC for theirs.
func (b *boxFiles) open(ctx context.Context, in filesystem) error {
	if b.yolo != nil {
		folder, _, _ := strings.Cut(b.spec.pattern.text, "{")
		return b.yolo.findNames(in, path.Dir(folder+"x"))
	}
	const block = 4096 // files that are read at once
	var files []file
	read := func() error {
		found := make([][]vocObject, len(files))
		err := parallel.Each(ctx, len(files), maxListings, func() (func(int) error, func(), error) {
			return func(i int) error {
				data, err := in.read(files[i].path, files[i].size, files[i].modTime, nil)
				if err == nil && len(data) <= maxBoxFile {
					found[i], _ = decodeVOC(data) // reading the sample reports the error
				}
				return nil
			}, func() {}, nil
		})
		for _, list := range found {
			b.voc.learn(list)
		}
		files = files[:0]
		return err
	}
	err := b.set.index.each(b.field, func(f file, _ bool) error {
		if files = append(files, f); len(files) == block {
			return read()
		}
		return ctx.Err()
	})
	if err = errors.Join(err, read()); err != nil {
		return err
	}
	b.voc.finish()
	return nil
}
