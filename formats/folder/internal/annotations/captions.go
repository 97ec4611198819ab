package annotations

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// cocoCaptions are the captions of COCO's captions_*.json: a JSON list of texts for each image.
type cocoCaptions struct {
	cocoImages
	texts map[int32][]string
}

// NewCOCOCaptions returns the captions of COCO's files, and of tables.
func NewCOCOCaptions(files []string) Annotation {
	return &cocoCaptions{cocoImages: cocoImages{flag: "--captions", names: files}}
}

func (c *cocoCaptions) Schema() formats.Schema {
	return formats.Schema{{Name: "captions", Kind: formats.JSON}}
}

func (c *cocoCaptions) Open(ctx context.Context, in vfs.FS) error {
	c.texts = map[int32][]string{}
	for _, name := range c.names {
		if isCaptionTable(name) {
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

func (c *cocoCaptions) Read(f *vfs.File, _ *Picture, values []formats.Value) (string, error) {
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
