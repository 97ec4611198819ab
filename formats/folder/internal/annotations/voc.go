package annotations

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/labels"
)

// VOC reads Pascal VOC's files of boxes, one for each image. The classes are those that occur in them.
type VOC struct {
	mu      sync.Mutex
	names   map[string]bool
	classes []string
	index   map[string]int64
	flag    string // the field of difficult objects, if there are any
}

// Schema returns the fields of the objects, when Finish was called.
func (v *VOC) Schema() formats.Schema { return objectSchema(v.classes, v.flag) }

// Note says what was found.
func (v *VOC) Note() string { return fmt.Sprintf("%d classes", len(v.classes)) }

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
func (v *VOC) Parse(data []byte, p *Picture) (list []Object, warning string, err error) {
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

// Size returns the size of the image that an annotation says, 0 if it says none.
func (v *VOC) Size(data []byte) (h, w int) {
	a, _ := decodeVOC(data) // reading the sample reports the error
	s := a.size()
	return int(s.h), int(s.w)
}

func (v *VOC) objects(found []vocObject) ([]Object, error) {
	list := make([]Object, len(found))
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

// Learn adds the classes of the objects of an annotation. It is safe for concurrent use.
func (v *VOC) Learn(data []byte) {
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

// Finish is called when all annotations are learnt.
func (v *VOC) Finish() {
	v.classes = slices.Sorted(maps.Keys(v.names))
	v.index = labels.IndexOf(v.classes)
}
