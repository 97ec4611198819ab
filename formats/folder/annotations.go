package folder

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// The fields of objects in an image: where they are, and which class each is of.
const (
	boxesField     = "boxes"
	boxLabelsField = "box_labels"
)

// object is one object in an image. Its box is x0 y0 x1 y1 in pixels of the stored image.
type object struct {
	box   [4]float32
	class int64
	// flag is COCO's iscrowd or VOC's difficult.
	flag bool
}

// objectSchema returns the fields of objects; flag is the name of the field for their flags, "" if none is set.
func objectSchema(classes []string, flag string) formats.Schema {
	s := formats.Schema{
		{Name: boxesField, Kind: formats.Boxes, DType: formats.Float32, Shape: []int{-1, 4}},
		{Name: boxLabelsField, Kind: formats.Array, DType: formats.Int64, Shape: []int{-1}, Classes: classes},
	}
	if flag != "" {
		s = append(s, formats.Field{Name: flag, Kind: formats.Array, DType: formats.Uint8, Shape: []int{-1}})
	}
	return s
}

// setObjects sets the values of the fields of objectSchema.
func setObjects(values []formats.Value, list []object) {
	boxes, classes := values[0].Alloc(16 * len(list))[:0], values[1].Alloc(8 * len(list))[:0]
	for i := range list {
		for _, x := range list[i].box {
			boxes = binary.LittleEndian.AppendUint32(boxes, math.Float32bits(x))
		}
		classes = binary.LittleEndian.AppendUint64(classes, uint64(list[i].class))
	}
	values[0].Encoding, values[0].DType = formats.Raw, formats.Float32
	values[0].SetShape(len(list), 4)
	values[1].Encoding, values[1].DType = formats.Raw, formats.Int64
	values[1].SetShape(len(list))
	if len(values) < 3 {
		return
	}
	flags := values[2].Alloc(len(list))
	for i := range list {
		flags[i] = 0
		if list[i].flag {
			flags[i] = 1
		}
	}
	values[2].Encoding, values[2].DType = formats.Raw, formats.Uint8
	values[2].SetShape(len(list))
}

// checkBox returns an error about a box that has no place in any image.
func checkBox(b [4]float32) error {
	for _, x := range b {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return errors.New("a box has a coordinate that is no finite number")
		}
	}
	if b[2] < b[0] || b[3] < b[1] {
		return fmt.Errorf("a box has a negative width or height: %v", b)
	}
	return nil
}

// addAnnotations adds what Config.Boxes and Config.Captions name.
func (s *fieldSet) addAnnotations(cfg *Config) error {
	var coco *cocoBoxes
	boxes := 0
	for _, name := range cfg.Boxes {
		if !strings.Contains(name, "{") {
			if coco == nil {
				coco = &cocoBoxes{}
				s.annotations = append(s.annotations, coco)
				boxes++
			}
			coco.files = append(coco.files, name)
			continue
		}
		b, err := newBoxFiles(name)
		if err != nil {
			return err
		}
		boxes++
		b.field = len(s.specs)
		s.specs = append(s.specs, b.spec)
		s.annotations = append(s.annotations, b)
	}
	if boxes > 1 {
		return errors.New("--boxes: give files of COCO, or one pattern of YOLO's or Pascal VOC's files, not both")
	}
	if len(cfg.Captions) > 0 {
		s.annotations = append(s.annotations, &cocoCaptions{files: cfg.Captions})
	}
	return nil
}

// openText opens a file that the Config names.
func openText(in filesystem, name string) (io.ReadCloser, error) {
	switch in := in.(type) {
	case disk:
		return os.Open(name)
	case virtual:
		return in.Open(at(name))
	}
	b, err := in.readText(name)
	return io.NopCloser(strings.NewReader(string(b))), err
}

// boxFiles are files of boxes, one for each image: YOLO's .txt or Pascal VOC's .xml.
type boxFiles struct {
	spec    *fieldSpec
	field   int // its position in the fieldSet
	voc     bool
	classes []string
	index   map[string]int64 // of VOC's classes
	flag    string
	from    string // the file of YOLO's class names
}

func newBoxFiles(text string) (*boxFiles, error) {
	p, err := parseFieldPattern(text)
	if err != nil {
		return nil, fmt.Errorf("--boxes %s: %w", text, err)
	}
	b := &boxFiles{spec: &fieldSpec{name: boxesField, kind: formats.Boxes, pattern: p}}
	switch strings.ToLower(path.Ext(text)) {
	case ".txt":
	case ".xml":
		b.voc = true
	default:
		return nil, fmt.Errorf("--boxes %s: the pattern ends in .txt (YOLO) or .xml (Pascal VOC); for COCO give the .json file", text)
	}
	b.spec.boxes = b
	return b, nil
}

func (b *boxFiles) schema() formats.Schema { return objectSchema(b.classes, b.flag) }

// read reads the file of a sample. For YOLO an image without a file has no objects.
func (b *boxFiles) read(s *fieldSet, it *sample, image *formats.Value, values []formats.Value) error {
	v := s.places.values(it)
	one, _, err := s.index.find(b.field, b.spec.expand(&v, it))
	if !b.voc && errors.Is(err, errNoFile) {
		setObjects(values, nil)
		return nil
	}
	var list []object
	if err == nil {
		list, err = b.parse(s.in, one, image)
	}
	if err != nil {
		return fmt.Errorf("field %s: %w", boxesField, err)
	}
	setObjects(values, list)
	return nil
}

// maxAnnotations bounds the size of a file with the boxes of one image.
const maxAnnotations = 16 << 20

func (b *boxFiles) parse(in filesystem, one file, image *formats.Value) ([]object, error) {
	if one.size > maxAnnotations {
		return nil, fmt.Errorf("%s: %d bytes are too many for the boxes of one image", one.path, one.size)
	}
	data, err := in.read(one.path, one.size, one.modTime, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", one.path, err)
	}
	var list []object
	if b.voc {
		list, err = b.parseVOC(data)
	} else {
		list, err = b.parseYOLO(data, image)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", one.path, err)
	}
	return list, nil
}

func (b *boxFiles) claim(*sample) {}

// identify: the files are those of a field, which the fieldSet identifies.
func (b *boxFiles) identify(*fieldSet, *sample, io.Writer) error { return nil }

func (b *boxFiles) summaries(s *fieldSet) []FieldSummary {
	note := fmt.Sprintf("%d classes", len(b.classes))
	switch {
	case b.from != "":
		note += " of " + b.from
	case !b.voc:
		note = "no class names: there is no data.yaml and no classes.txt"
	}
	if n := s.missing[b.field]; n > 0 && !b.voc {
		note += fmt.Sprintf("; %d images without a file have no boxes", n)
	}
	return []FieldSummary{{
		Name: boxesField, Kind: formats.Boxes, From: b.spec.pattern.text, Found: s.found[b.field], Missing: s.missing[b.field],
		Unused: s.unused[b.field], Example: s.orphans[b.field], Note: note,
	}}
}
