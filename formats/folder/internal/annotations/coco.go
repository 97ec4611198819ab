package annotations

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// cocoBoxes are the objects of COCO's instances_*.json.
type cocoBoxes struct {
	cocoImages
	objects []cocoObject // by image
	classes []string
	crowds  string // the field of groups; "" if there are none
	// outlines and points: the files have some.
	outlines, points present
	turned           turned
}

// NewCOCOBoxes returns the objects of COCO's files.
func NewCOCOBoxes(files []string) Annotation {
	return &cocoBoxes{cocoImages: cocoImages{flag: "--boxes", names: files}}
}

// cocoObject is an object of the image with that number.
type cocoObject struct {
	Object
	image int32
}

func (c *cocoBoxes) Schema() formats.Schema { return objectSchema(c.classes, c.crowds) }

// Open reads the files. It keeps the boxes and the names of the images, not the outlines.
func (c *cocoBoxes) Open(ctx context.Context, in vfs.FS) error {
	var categories []cocoCategory
	var first string
	for _, name := range c.names {
		f := cocoFile{ctx: ctx, images: &c.cocoImages}
		start := len(c.objects)
		f.annotation = func(image int32, a *cocoAnnotation) error {
			o := cocoObject{image: image}
			c.outlines, c.points, c.turned = c.outlines || a.Outline, c.points || a.Points, c.turned || a.Turned
			box, err := a.box()
			if err == nil {
				err = checkBox(box)
			}
			if err != nil {
				c.damage(image, err)
				return nil
			}
			if o.box, o.class, o.flag = box, f.category(a.Category), bool(a.Crowd); o.flag {
				c.crowds = "box_crowd"
			}
			c.objects = append(c.objects, o)
			return nil
		}
		if err := f.read(in, name, "bbox"); err != nil {
			return fmt.Errorf("--boxes %s: %w", name, err)
		}
		dense := f.denseCategories()
		for i := start; i < len(c.objects); i++ {
			o := &c.objects[i]
			class := dense[o.class]
			if class < 0 {
				c.damage(o.image, fmt.Errorf("a box of the category %s, which is not among the file's categories", f.unknown[o.class]))
			}
			o.class = class
		}
		if first == "" {
			first, categories = name, f.categories
		} else if !slices.Equal(categories, f.categories) {
			return fmt.Errorf("--boxes: %s and %s have other categories", first, name)
		}
	}
	for _, k := range categories {
		c.classes = append(c.classes, k.Name)
	}
	slices.SortStableFunc(c.objects, func(a, b cocoObject) int { return int(a.image) - int(b.image) })
	c.match()
	return nil
}

func (c *cocoBoxes) Read(f *vfs.File, p *Picture, values []formats.Value) (warning string, err error) {
	image, err := c.find(f.Path)
	if err == nil {
		list := c.of(image)
		SetObjects(p, values, list)
		warning, err = c.entries[image].size.check(p, list)
	}
	if err != nil {
		return "", fmt.Errorf("field %s: %w", BoxesField, err)
	}
	return warning, nil
}

func (c *cocoBoxes) Size(f *vfs.File) (h, w int, sized bool) {
	image, err := c.find(f.Path)
	if err != nil {
		return 0, 0, true // Read returns the error
	}
	s := c.entries[image].size
	return int(s.h), int(s.w), true
}

// of returns the objects of an image.
func (c *cocoBoxes) of(image int32) []Object {
	at, _ := slices.BinarySearchFunc(c.objects, image, func(o cocoObject, k int32) int { return int(o.image) - int(k) })
	var list []Object
	for ; at < len(c.objects) && c.objects[at].image == image; at++ {
		list = append(list, c.objects[at].Object)
	}
	return list
}

func (c *cocoBoxes) Identify(f *vfs.File, w io.Writer) error {
	image, err := c.find(f.Path)
	if err != nil {
		_, err = fmt.Fprintln(w, err)
		return err
	}
	_, err = fmt.Fprintln(w, c.of(image), c.classes)
	return err
}

func (c *cocoBoxes) Summary() Summary {
	note := fmt.Sprintf("%d boxes of %d classes", len(c.objects), len(c.classes))
	if c.crowds != "" {
		note += "; " + c.crowds + " marks groups"
	}
	if c.outlines {
		note += "; their segmentation is not read"
	}
	if c.points {
		note += "; their keypoints are not read"
	}
	if c.turned {
		note += "; the angles of those that are turned are not read"
	}
	return c.summary(BoxesField, formats.Boxes, note)
}
