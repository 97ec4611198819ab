package folder

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/labels"
	"github.com/dsconv/dsconv/internal/parallel"
)

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

// decodeVOC reads the objects of a Pascal VOC annotation.
func decodeVOC(data []byte) ([]vocObject, error) {
	var a struct {
		XMLName xml.Name    `xml:"annotation"`
		Objects []vocObject `xml:"object"`
	}
	d := xml.NewDecoder(bytes.NewReader(data))
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // names are ASCII in practice
	if err := d.Decode(&a); err != nil {
		return nil, fmt.Errorf("not a Pascal VOC annotation: %w", err)
	}
	return a.Objects, nil
}

// parseVOC returns the objects of an annotation. VOC counts pixels from 1 and its corners are inside the box, so
// that a box of the first pixel is 1 1 1 1; here it is 0 0 1 1.
func (b *boxFiles) parseVOC(data []byte) ([]object, error) {
	found, err := decodeVOC(data)
	if err != nil {
		return nil, err
	}
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
		class, ok := b.index[strings.TrimSpace(o.Name)]
		if !ok {
			return nil, fmt.Errorf("the class %q is new since the annotations were listed", o.Name)
		}
		list[i].class, list[i].flag = class, strings.TrimSpace(o.Difficult) == "1"
	}
	return list, nil
}

// open finds YOLO's class names, or reads all annotations of VOC for theirs.
func (b *boxFiles) open(ctx context.Context, s *fieldSet) error {
	if !b.voc {
		return b.findNames(s)
	}
	names := map[string]bool{}
	const block = 4096 // files that are read at once
	var files []file
	read := func() error {
		found := make([][]vocObject, len(files))
		err := parallel.Each(ctx, len(files), maxListings, func() (func(int) error, func(), error) {
			return func(i int) error {
				data, err := s.in.read(files[i].path, files[i].size, files[i].modTime, nil)
				if err == nil && len(data) <= maxAnnotations {
					found[i], _ = decodeVOC(data) // reading the sample reports the error
				}
				return nil
			}, func() {}, nil
		})
		for _, list := range found {
			for i := range list {
				names[strings.TrimSpace(list[i].Name)] = true
				if strings.TrimSpace(list[i].Difficult) == "1" {
					b.flag = "box_difficult"
				}
			}
		}
		files = files[:0]
		return err
	}
	err := s.index.each(b.field, func(f file, _ bool) error {
		if files = append(files, f); len(files) == block {
			return read()
		}
		return ctx.Err()
	})
	if err = errors.Join(err, read()); err != nil {
		return err
	}
	b.classes = slices.Sorted(maps.Keys(names))
	b.index = labels.IndexOf(b.classes)
	return nil
}
