package annotations

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/image/codec"
)

// YOLO reads YOLO's files of boxes, one for each image.
type YOLO struct {
	classes []string // nil if there is no file of their names
	from    string   // that file
}

// Schema returns the fields of the objects, when FindNames was called.
func (y *YOLO) Schema() formats.Schema { return objectSchema(y.classes, "") }

// Note says what was found.
func (y *YOLO) Note() string {
	if y.from == "" {
		return "no class names: there is no data.yaml and no classes.txt"
	}
	return fmt.Sprintf("%d classes of %s", len(y.classes), y.from)
}

// Parse returns the objects of a file of YOLO: a line of class, centre, width and height for each, as shares of
// the image's size. A line with the corners of a polygon is the box around it.
func (y *YOLO) Parse(data []byte, image *formats.Value) ([]Object, error) {
	_, h, err := codec.Inspect(image.Data)
	if err != nil {
		return nil, fmt.Errorf("the boxes need the image's size: %w", err)
	}
	var list []Object
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		cells := strings.Fields(line)
		if len(cells) == 0 {
			continue
		}
		o, err := parseYOLOLine(cells, float64(h.W), float64(h.H))
		if err == nil && y.classes != nil && o.class >= int64(len(y.classes)) {
			err = fmt.Errorf("the class %d is not among the %d of %s", o.class, len(y.classes), y.from)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, o)
	}
	return list, nil
}

func parseYOLOLine(cells []string, w, h float64) (o Object, err error) {
	if o.class, err = strconv.ParseInt(cells[0], 10, 32); err != nil || o.class < 0 {
		return o, fmt.Errorf("the class is %q, which is no whole number from 0", cells[0])
	}
	if len(cells) < 5 || len(cells)%2 == 0 {
		return o, fmt.Errorf("%d numbers: a box has a class and 4, a polygon a class and an even number of at least 6", len(cells))
	}
	v := make([]float64, len(cells)-1)
	for i, cell := range cells[1:] {
		if v[i], err = strconv.ParseFloat(cell, 64); err != nil {
			return o, fmt.Errorf("%q is no number", cell)
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

// nameFiles are the files of YOLO's class names.
var nameFiles = []string{"data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names"}

// IsClassNames reports whether a file has class names, not boxes.
func IsClassNames(rel string) bool { return slices.Contains(nameFiles, path.Base(rel)) }

// FindNames reads the class names: they are in the folder of the boxes or in the root.
func (y *YOLO) FindNames(in vfs.FS, folder string) error {
	for _, dir := range []string{folder, "."} {
		for _, name := range nameFiles {
			rel := path.Join(dir, name)
			st, err := in.Stat(rel)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil || st.Size() > MaxBoxFile {
				return fmt.Errorf("read the class names in %s: %w", rel, errors.Join(err, errors.New("it is too large")))
			}
			data, err := in.Read(rel, st.Size(), vfs.ModTime(st), nil)
			if err != nil {
				return fmt.Errorf("read the class names in %s: %w", rel, err)
			}
			if strings.HasSuffix(name, "l") { // .yaml, .yml
				y.classes, err = yamlNames(string(data))
			} else {
				y.classes = strings.Split(strings.TrimSpace(strings.ReplaceAll(string(data), "\r", "")), "\n")
			}
			if err != nil {
				return fmt.Errorf("%s: %w", rel, err)
			}
			if y.classes != nil {
				y.from = rel
				return nil
			}
		}
	}
	return nil
}

// yamlNames reads the list or the map "names" of a data.yaml: [a, b], lines "- a", or lines "0: a".
func yamlNames(text string) ([]string, error) {
	var names []string
	inside := false
	add := func(item string) error {
		number, name, isMap := strings.Cut(item, ":")
		if k, err := strconv.Atoi(strings.TrimSpace(number)); isMap && err == nil {
			if k != len(names) {
				return fmt.Errorf("names: the class %d is not in its place: write the classes in the order of their numbers", k)
			}
			item = name
		}
		names = append(names, strings.Trim(strings.TrimSpace(item), `"'`))
		return nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n \t")
		if at := strings.Index(line, " #"); at >= 0 {
			line = strings.TrimRight(line[:at], " ")
		}
		item, isItem := strings.CutPrefix(strings.TrimLeft(line, " "), "- ")
		switch rest, ok := strings.CutPrefix(line, "names:"); {
		case ok:
			inside = true
			rest = strings.TrimSpace(rest)
			if rest == "" {
				continue
			}
			inside = false
			for _, one := range strings.Split(strings.Trim(rest, "[]{}"), ",") {
				if err := add(strings.TrimSpace(one)); err != nil {
					return nil, err
				}
			}
		case !inside || line == "" || strings.HasPrefix(strings.TrimSpace(line), "#"):
		case isItem || strings.HasPrefix(line, " "):
			if err := add(strings.TrimSpace(item)); err != nil {
				return nil, err
			}
		default:
			inside = false
		}
	}
	return names, nil
}
