package fields

import (
	"bufio"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

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

// cocoObject is an object of the image with that number.
type cocoObject struct {
	object
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

func (c *cocoBoxes) Read(f *vfs.File, p *picture, values []formats.Value) (warning string, err error) {
	image, err := c.find(f.Path)
	if err == nil {
		list := c.of(image)
		setObjects(p, values, list)
		warning, err = c.entries[image].size.check(p, list)
	}
	if err != nil {
		return "", fmt.Errorf("field %s: %w", boxesField, err)
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
func (c *cocoBoxes) of(image int32) []object {
	at, _ := slices.BinarySearchFunc(c.objects, image, func(o cocoObject, k int32) int { return int(o.image) - int(k) })
	var list []object
	for ; at < len(c.objects) && c.objects[at].image == image; at++ {
		list = append(list, c.objects[at].object)
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
	return c.summary(boxesField, formats.Boxes, note)
}

// cocoCaptions are the captions of COCO's captions_*.json, or of tables: a JSON list of texts for each image.
type cocoCaptions struct {
	cocoImages
	texts map[int32][]string
}

func (c *cocoCaptions) Schema() formats.Schema {
	return formats.Schema{{Name: "captions", Kind: formats.JSON}}
}

func (c *cocoCaptions) Open(ctx context.Context, in vfs.FS) error {
	c.texts = map[int32][]string{}
	for _, name := range c.names {
		if ext := strings.ToLower(path.Ext(name)); ext == ".csv" || ext == ".txt" {
			if err := errors.Join(c.readTable(in, name), ctx.Err()); err != nil {
				return fmt.Errorf("--captions %s: %w", name, err)
			}
			continue
		}
		f := cocoFile{ctx: ctx, images: &c.cocoImages}
		f.annotation = func(image int32, a *cocoAnnotation) error {
			if a.Caption == nil {
				c.damage(image, fmt.Errorf("an annotation without a caption"))
				return nil
			}
			c.texts[image] = append(c.texts[image], *a.Caption)
			return nil
		}
		if err := f.read(in, name, "caption"); err != nil {
			return fmt.Errorf("--captions %s: %w", name, err)
		}
	}
	c.match()
	return nil
}

func (c *cocoCaptions) of(f *vfs.File) ([]byte, error) {
	image, err := c.find(f.Path)
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

func (c *cocoCaptions) Read(f *vfs.File, _ *picture, values []formats.Value) (string, error) {
	text, err := c.of(f)
	if err != nil {
		return "", err
	}
	values[0].Copy(text)
	values[0].Encoding, values[0].DType = formats.Plain, ""
	values[0].SetShape()
	return "", nil
}

func (c *cocoCaptions) Size(*vfs.File) (h, w int, sized bool) { return 0, 0, false }

func (c *cocoCaptions) Identify(f *vfs.File, w io.Writer) error {
	text, err := c.of(f)
	if err != nil {
		text = []byte(err.Error())
	}
	_, err = w.Write(text)
	return err
}

func (c *cocoCaptions) Summary() Summary {
	n := 0
	for _, texts := range c.texts {
		n += len(texts)
	}
	return c.summary("captions", formats.JSON, fmt.Sprintf("%d captions", n))
}

// The headers of the columns that a table of captions must have.
var (
	imageHeaders   = []string{"image", "image_name", "file_name", "filename"}
	captionHeaders = []string{"caption", "comment"}
)

// readTable reads a table with a caption in each row, as Flickr8k's captions.txt and Flickr30k's results.csv.
func (c *cocoCaptions) readTable(in vfs.FS, name string) error {
	file, err := c.open(in, name)
	if err != nil {
		return err
	}
	defer file.Close()
	limit := &itemReader{file, maxCOCOItem}
	lines := bufio.NewReader(limit)
	first, err := lines.ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	separator := ","
	if strings.Contains(first, "|") {
		separator = "|"
	}
	header := strings.Split(strings.ToLower(strings.TrimPrefix(strings.TrimSpace(first), "\ufeff")), separator)
	column := func(names []string) int {
		return slices.IndexFunc(header, func(h string) bool { return slices.Contains(names, strings.Trim(h, ` "`)) })
	}
	image, caption := column(imageHeaders), column(captionHeaders)
	if image < 0 || caption < 0 {
		return errors.New(`a table of captions begins with a line such as "image,caption" or "image_name| comment_number| comment"`)
	}
	rows := csv.NewReader(lines)
	rows.Comma, rows.LazyQuotes, rows.FieldsPerRecord, rows.ReuseRecord = rune(separator[0]), separator == "|", -1, true
	numbers := map[string]int32{}
	for {
		limit.left = maxCOCOItem
		row, err := rows.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("after its first line: %w", err)
		}
		if len(row) <= image {
			return fmt.Errorf("a row has only %d cells: %q", len(row), row)
		}
		base := path.Clean(strings.ReplaceAll(strings.TrimSpace(row[image]), "\\", "/"))
		n, ok := numbers[base]
		if !ok {
			n = int32(len(c.entries))
			numbers[strings.Clone(base)] = n
			c.entries = append(c.entries, cocoEntry{name: strings.Clone(base), file: int32(len(c.files) - 1)})
		}
		if len(row) != len(header) {
			c.damage(n, fmt.Errorf("a row of the captions has %d cells, and the first line %d", len(row), len(header)))
			continue
		}
		c.texts[n] = append(c.texts[n], strings.Clone(strings.TrimSpace(row[caption])))
	}
}
