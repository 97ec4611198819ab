package annotations

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// YOLO reads YOLO's files of boxes, one for each image.
type YOLO struct {
	classes []string // nil if there is no file of their names
	from    string   // that file
	// pose is data.yaml's kpt_shape, the number of keypoints and of numbers for each: nil if a line has none.
	pose     []int
	poseFrom string // that data.yaml
}

// Schema returns the fields of the objects, when FindNames was called.
func (y *YOLO) Schema() formats.Schema { return objectSchema(y.classes, "") }

// Note says what was found.
func (y *YOLO) Note() string {
	const upright = "; of the images upright, as their EXIF orientation says and as ultralytics reads them"
	if y.from == "" {
		return "no class names: there is no data.yaml and no classes.txt" + upright
	}
	return fmt.Sprintf("%d classes of %s", len(y.classes), y.from) + upright
}

// Parse returns the objects of a file of YOLO: a line of class, centre, width and height for each, as shares of
// the image's size, perhaps with keypoints, which are left out. A line with the corners of a polygon is the box around it.
func (y *YOLO) Parse(data []byte, p *Picture) ([]Object, string, error) {
	if p.err != nil {
		return nil, "", fmt.Errorf("the boxes need the image's size: %w", p.err)
	}
	is := p.frame()
	var list []Object
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		cells := strings.Fields(line)
		if len(cells) == 0 {
			continue
		}
		o, err := y.parseLine(cells, float64(is.w), float64(is.h))
		if err == nil && y.classes != nil && o.class >= int64(len(y.classes)) {
			err = fmt.Errorf("the class %d is not among the %d of %s", o.class, len(y.classes), y.from)
		}
		if err != nil {
			return nil, "", fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, o)
	}
	return list, "", nil
}

func (y *YOLO) parseLine(cells []string, w, h float64) (o Object, err error) {
	if o.class, err = strconv.ParseInt(cells[0], 10, 32); err != nil || o.class < 0 {
		return o, fmt.Errorf("the class is %q, which is no whole number from 0", cells[0])
	}
	if cells, err = y.withoutKeypoints(cells); err != nil {
		return o, err
	}
	v := make([]float64, len(cells)-1)
	for i, cell := range cells[1:] {
		if v[i], err = strconv.ParseFloat(cell, 64); err != nil {
			return o, fmt.Errorf("%q is no number", cell)
		}
		if v[i] > maxShare {
			return o, notShare(cell, len(v))
		}
	}
	x0, y0, x1, y1 := v[0]-v[2]/2, v[1]-v[3]/2, v[0]+v[2]/2, v[1]+v[3]/2
	if len(v) > 4 {
		x0, y0, x1, y1 = v[0], v[1], v[0], v[1]
		for i := 2; i < len(v); i += 2 {
			x0, x1, y0, y1 = min(x0, v[i]), max(x1, v[i]), min(y0, v[i+1]), max(y1, v[i+1])
		}
	}
	o.box = [4]float32{float32(x0 * w), float32(y0 * h), float32(x1 * w), float32(y1 * h)}
	return o, checkBox(o.box)
}

// withoutKeypoints returns the cells of a line that say where the object is.
func (y *YOLO) withoutKeypoints(cells []string) ([]string, error) {
	if y.pose != nil && len(cells) != 5 {
		if want := 5 + y.pose[0]*y.pose[1]; len(cells) != want {
			return nil, fmt.Errorf("%d numbers: with the kpt_shape %v of %s there are %d", len(cells), y.pose, y.poseFrom, want)
		}
		return cells[:5], nil
	}
	if len(cells) < 5 || len(cells)%2 == 0 {
		return nil, fmt.Errorf("%d numbers: a box has a class and 4, a polygon a class and an even number of at least 6%s", len(cells), poseHint)
	}
	return cells, nil
}

// maxShare is 1 and what tools miss it by.
const maxShare = 1.01

const poseHint = "; for keypoints write their kpt_shape, such as [17, 3], in data.yaml"

// notShare is the error about a number that is no share of the image's size.
func notShare(cell string, numbers int) error {
	if numbers == 4 {
		return fmt.Errorf("%s is above 1: the numbers must be shares of the image's width and height, not pixels", cell)
	}
	return fmt.Errorf("%s is above 1, so this is no polygon of shares of the image's width and height%s", cell, poseHint)
}
