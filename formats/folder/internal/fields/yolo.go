package fields

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// yolo reads YOLO's files of boxes, one for each image.
type yolo struct {
	classes []string // nil if there is no file of their names
	from    string   // that file
	// pose is data.yaml's kpt_shape, the number of keypoints and of numbers for each: nil if a line has none.
	pose     []int
	poseFrom string // that data.yaml
}

// Schema returns the fields of the objects, when FindNames was called.
func (y *yolo) Schema() formats.Schema { return objectSchema(y.classes, "") }

// Note says what was found.
func (y *yolo) Note() string {
	const upright = "; of the images upright, as their EXIF orientation says and as ultralytics reads them"
	if y.from == "" {
		return "no class names: there is no data.yaml and no classes.txt" + upright
	}
	return fmt.Sprintf("%d classes of %s", len(y.classes), y.from) + upright
}

// Parse returns the objects of a file of YOLO: a line of class, centre, width and height for each, as shares of
// the image's size, perhaps with keypoints, which are left out. A line with the corners of a polygon is the box around it.
func (y *yolo) Parse(data []byte, p *picture) ([]object, string, error) {
	if p.err != nil {
		return nil, "", fmt.Errorf("the boxes need the image's size: %w", p.err)
	}
	is := p.frame()
	var list []object
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

func (y *yolo) parseLine(cells []string, w, h float64) (o object, err error) {
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
func (y *yolo) withoutKeypoints(cells []string) ([]string, error) {
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

// nameFiles are the files of YOLO's class names.
var nameFiles = []string{"data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names"}

// maxNames bounds the size of a file of class names.
const maxNames = 1 << 20

// isClassNames reports whether a file has class names, not boxes.
func isClassNames(rel string) bool { return slices.Contains(nameFiles, path.Base(rel)) }

// findNames reads the class names: they are in a folder of the boxes or in the root. Several files must have the same.
func (y *yolo) findNames(in vfs.FS, folders []string) error {
	for _, dir := range append(folders, ".") {
		for _, name := range nameFiles {
			rel := path.Join(dir, name)
			data, err := readNames(in, rel)
			if errors.Is(err, fs.ErrNotExist) || rel == y.from {
				continue
			}
			if err == nil {
				err = y.addNames(rel, data)
			}
			if err != nil {
				return fmt.Errorf("class names of --boxes: %s: %w", rel, err)
			}
		}
	}
	return nil
}

func readNames(in vfs.FS, rel string) ([]byte, error) {
	st, err := in.Stat(rel)
	if err != nil {
		return nil, err
	}
	if st.Size() > maxNames {
		return nil, fmt.Errorf("it has %d bytes, which are too many for names", st.Size())
	}
	data, err := in.Read(rel, st.Size(), vfs.ModTime(st), nil)
	if err != nil {
		return nil, err
	}
	return vfs.PlainText(data)
}

// addNames takes what a file says.
func (y *yolo) addNames(rel string, data []byte) error {
	names, pose := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(data), "\r", "")), "\n"), []int(nil)
	if strings.HasSuffix(rel, "l") { // .yaml, .yml
		var err error
		if names, pose, err = parseDataYAML(data); err != nil {
			return err
		}
	}
	if pose != nil {
		if y.pose != nil && !slices.Equal(y.pose, pose) {
			return fmt.Errorf("its kpt_shape is %v, and %v in %s", pose, y.pose, y.poseFrom)
		}
		y.pose, y.poseFrom = pose, rel
	}
	switch {
	case names == nil:
	case y.classes == nil:
		y.classes, y.from = names, rel
	case !slices.Equal(y.classes, names):
		return fmt.Errorf("it has other names than %s: which are the classes of the boxes? Move or rename the other file", y.from)
	}
	return nil
}

// parseDataYAML reads the names and the kpt_shape of a data.yaml. Both are nil if it has none.
func parseDataYAML(data []byte) (names []string, pose []int, err error) {
	var file struct {
		Names yaml.Node `yaml:"names"`
		Count *int      `yaml:"nc"`
		Pose  []int     `yaml:"kpt_shape"`
	}
	if err := yaml.Unmarshal(data, &file); err != nil {
		return nil, nil, err
	}
	if names, err = yamlNames(&file.Names); err != nil {
		return nil, nil, err
	}
	if file.Count != nil && names != nil && *file.Count != len(names) {
		return nil, nil, fmt.Errorf("nc is %d, but there are %d names", *file.Count, len(names))
	}
	const most = 10_000 // keypoints
	if p := file.Pose; p != nil && (len(p) != 2 || p[0] < 1 || p[0] > most || p[1] < 2 || p[1] > 3) {
		return nil, nil, fmt.Errorf("kpt_shape is %v: it must be the number of keypoints and 2 or 3 numbers for each, such as [17, 3]", p)
	}
	return names, file.Pose, nil
}

// yamlNames returns the names of a list, or of a map from the numbers of the classes.
func yamlNames(n *yaml.Node) (names []string, err error) {
	if n.Kind == 0 {
		return nil, nil
	}
	if err = n.Decode(&names); err != nil {
		byNumber := map[int]string{}
		if err := n.Decode(&byNumber); err != nil {
			return nil, fmt.Errorf("names must be a list, or a map from the numbers of the classes: %w", err)
		}
		names = make([]string, len(byNumber))
		for i := range names {
			var known bool
			if names[i], known = byNumber[i]; !known {
				return nil, fmt.Errorf("line %d: there is no class %d: the %d names must have the numbers 0 to %d", n.Line, i, len(names), len(names)-1)
			}
		}
	}
	if k := slices.Index(names, ""); k >= 0 {
		return nil, fmt.Errorf("line %d: the class %d has no name", n.Line, k)
	}
	return names, nil
}
