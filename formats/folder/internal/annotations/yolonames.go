package annotations

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// nameFiles are the files of YOLO's class names.
var nameFiles = []string{"data.yaml", "data.yml", "dataset.yaml", "classes.txt", "obj.names"}

// maxNames bounds the size of a file of class names.
const maxNames = 1 << 20

// IsClassNames reports whether a file has class names, not boxes.
func IsClassNames(rel string) bool { return slices.Contains(nameFiles, path.Base(rel)) }

// FindNames reads the class names: they are in a folder of the boxes or in the root. Several files must have the same.
func (y *YOLO) FindNames(in vfs.FS, folders []string) error {
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
func (y *YOLO) addNames(rel string, data []byte) error {
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
func yamlNames(n *yaml.Node) ([]string, error) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	switch n.Kind {
	case 0:
		return nil, nil
	case yaml.SequenceNode:
		names := make([]string, len(n.Content))
		for i, item := range n.Content {
			if err := setName(names, i, item); err != nil {
				return nil, err
			}
		}
		return names, nil
	case yaml.MappingNode:
		names := make([]string, len(n.Content)/2)
		for i := range names {
			key := n.Content[2*i].Value
			k, err := strconv.Atoi(key)
			if err != nil || k < 0 || k >= len(names) {
				return nil, fmt.Errorf("line %d: the class %q: the %d names must have the numbers 0 to %d", n.Content[2*i].Line, key, len(names), len(names)-1)
			}
			if err := setName(names, k, n.Content[2*i+1]); err != nil {
				return nil, err
			}
		}
		return names, nil
	}
	return nil, fmt.Errorf("line %d: names must be a list, or a map from the numbers of the classes", n.Line)
}

// setName sets the name of class k.
func setName(names []string, k int, item *yaml.Node) error {
	switch {
	case item.Kind != yaml.ScalarNode || item.Value == "":
		return fmt.Errorf("line %d: the class %d has no name", item.Line, k)
	case names[k] != "":
		return fmt.Errorf("line %d: the class %d has two names", item.Line, k)
	}
	names[k] = item.Value
	return nil
}
