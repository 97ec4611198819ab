package folder

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// cocoBoxes are the objects of COCO's instances_*.json.
type cocoBoxes struct {
	files   []string
	images  cocoImages
	objects []cocoObject // by image
	classes []string
	flag    string
}

// cocoObject is an object of the image with that number.
type cocoObject struct {
	object
	image int32
}

func (c *cocoBoxes) schema() formats.Schema { return objectSchema(c.classes, c.flag) }

// open reads the files. It keeps the boxes and the names of the images, not the outlines.
func (c *cocoBoxes) open(ctx context.Context, s *fieldSet) error {
	var categories []cocoCategory
	var first string
	for _, name := range c.files {
		f := cocoFile{ctx: ctx, images: &c.images}
		start := len(c.objects)
		f.annotation = func(image int32, a *cocoAnnotation) error {
			o := cocoObject{image: image}
			box, err := a.box()
			if err == nil {
				err = checkBox(box)
			}
			if err != nil {
				c.images.damage(image, err)
				return nil
			}
			if o.box, o.class, o.flag = box, f.category(a.Category), bool(a.Crowd); o.flag {
				c.flag = "box_crowd"
			}
			c.objects = append(c.objects, o)
			return nil
		}
		if err := f.read(s.in, name); err != nil {
			return fmt.Errorf("--boxes %s: %w", name, err)
		}
		dense := f.denseCategories()
		for i := start; i < len(c.objects); i++ {
			o := &c.objects[i]
			class := dense[o.class]
			if class < 0 {
				c.images.damage(o.image, fmt.Errorf("a box of the category %s, which is not among the file's categories", f.unknown[o.class]))
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
	return c.images.match(s)
}

func (c *cocoBoxes) read(_ *fieldSet, it *sample, _ *formats.Value, values []formats.Value) error {
	image, err := c.images.find(it.path, c.files)
	if err != nil {
		return fmt.Errorf("field %s: %w", boxesField, err)
	}
	setObjects(values, c.of(image))
	return nil
}

// of returns the objects of an image.
func (c *cocoBoxes) of(image int32) []object {
	at, _ := slices.BinarySearchFunc(c.objects, image, func(o cocoObject, k int32) int { return int(o.image) - int(k) })
	var list []object
	for ; at < len(c.objects) && c.objects[at].image == image; at++ {
		list = append(list, c.objects[at].object)
	}
	return list
}

func (c *cocoBoxes) claim(it *sample) { c.images.claim(it.path, c.files) }

func (c *cocoBoxes) identify(_ *fieldSet, it *sample, w io.Writer) error {
	image, err := c.images.find(it.path, c.files)
	if err != nil {
		_, err = fmt.Fprintln(w, err)
		return err
	}
	_, err = fmt.Fprintln(w, c.of(image), c.classes)
	return err
}

func (c *cocoBoxes) summaries(s *fieldSet) []FieldSummary {
	note := fmt.Sprintf("%d boxes of %d classes", len(c.objects), len(c.classes))
	if c.flag != "" {
		note += "; " + c.flag + " marks groups"
	}
	return []FieldSummary{c.images.summary(s, boxesField, formats.Boxes, c.files, note)}
}

// cocoCaptions are the captions of COCO's captions_*.json: a JSON list of texts for each image.
type cocoCaptions struct {
	files  []string
	images cocoImages
	texts  map[int32][]string
}

func (c *cocoCaptions) schema() formats.Schema {
	return formats.Schema{{Name: "captions", Kind: formats.JSON}}
}

func (c *cocoCaptions) open(ctx context.Context, s *fieldSet) error {
	c.texts = map[int32][]string{}
	for _, name := range c.files {
		f := cocoFile{ctx: ctx, images: &c.images}
		f.annotation = func(image int32, a *cocoAnnotation) error {
			if a.Caption == nil {
				c.images.damage(image, fmt.Errorf("an annotation without a caption"))
				return nil
			}
			c.texts[image] = append(c.texts[image], *a.Caption)
			return nil
		}
		if err := f.read(s.in, name); err != nil {
			return fmt.Errorf("--captions %s: %w", name, err)
		}
	}
	return c.images.match(s)
}

func (c *cocoCaptions) of(it *sample) ([]byte, error) {
	image, err := c.images.find(it.path, c.files)
	if err != nil {
		return nil, fmt.Errorf("field captions: %w", err)
	}
	texts := c.texts[image]
	if texts == nil {
		texts = []string{}
	}
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(texts); err != nil {
		return nil, err
	}
	return []byte(strings.TrimSpace(b.String())), nil
}

func (c *cocoCaptions) read(_ *fieldSet, it *sample, _ *formats.Value, values []formats.Value) error {
	text, err := c.of(it)
	if err != nil {
		return err
	}
	values[0].Copy(text)
	values[0].Encoding, values[0].DType = formats.Plain, ""
	values[0].SetShape()
	return nil
}

func (c *cocoCaptions) claim(it *sample) { c.images.claim(it.path, c.files) }

func (c *cocoCaptions) identify(_ *fieldSet, it *sample, w io.Writer) error {
	text, err := c.of(it)
	if err != nil {
		text = []byte(err.Error())
	}
	_, err = w.Write(text)
	return err
}

func (c *cocoCaptions) summaries(s *fieldSet) []FieldSummary {
	n := 0
	for _, texts := range c.texts {
		n += len(texts)
	}
	return []FieldSummary{c.images.summary(s, "captions", formats.JSON, c.files, fmt.Sprintf("%d captions", n))}
}
