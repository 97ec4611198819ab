package annotations

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// cocoImages finds the images of COCO files among the samples.
type cocoImages struct {
	names        []string // file_name, by number
	damaged      map[int32]error
	byBase       map[string][]int32
	stray        int // annotations' images that are not listed
	strayExample string

	found, missing int
	used           []bool
}

// damage records that an image's annotations cannot be used.
func (c *cocoImages) damage(image int32, err error) {
	if c.damaged == nil {
		c.damaged = map[int32]error{}
	}
	c.damaged[image] = cmp.Or(c.damaged[image], err)
}

// match prepares find, when all images are known.
func (c *cocoImages) match() {
	c.byBase = map[string][]int32{}
	c.used = make([]bool, len(c.names))
	for i, name := range c.names {
		if name != "" {
			base := path.Base(name)
			c.byBase[base] = append(c.byBase[base], int32(i))
		}
	}
}

// find returns the number of the image at a path. The path or file_name may have more folders than the other.
func (c *cocoImages) find(rel string, files []string) (int32, error) {
	var same []int32
	for _, i := range c.byBase[path.Base(rel)] {
		name := c.names[i]
		if name == rel {
			same = []int32{i}
			break
		}
		if strings.HasSuffix(rel, "/"+name) || strings.HasSuffix(name, "/"+rel) {
			same = append(same, i)
		}
	}
	switch {
	case len(same) == 0:
		return -1, fmt.Errorf("the image is not listed in %s", strings.Join(files, ", "))
	case len(same) > 1:
		return -1, fmt.Errorf("two images of %s may be it: %s and %s", strings.Join(files, ", "), c.names[same[0]], c.names[same[1]])
	}
	if err := c.damaged[same[0]]; err != nil {
		return -1, err
	}
	return same[0], nil
}

// claim counts a sample.
func (c *cocoImages) claim(rel string, files []string) {
	i, err := c.find(rel, files)
	if err != nil {
		c.missing++
		return
	}
	c.found++
	c.used[i] = true
}

func (c *cocoImages) summary(name string, kind formats.Kind, files []string, note string) Summary {
	s := Summary{Name: name, Kind: kind, From: strings.Join(files, ", "), Found: c.found, Missing: c.missing, Note: note}
	for i, used := range c.used {
		if !used && c.names[i] != "" {
			s.Unused++
			s.Example = cmp.Or(s.Example, c.names[i])
		}
	}
	if c.stray > 0 {
		s.Note += fmt.Sprintf("; %d annotated images are not listed in the file, such as %s", c.stray, c.strayExample)
	}
	return s
}
