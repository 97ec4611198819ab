package tfrecord

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// tfds is what the files of TensorFlow Datasets say beside the records.
type tfds struct {
	features map[string]tfdsFeature // by the feature's name in examples
	splits   []string
}

type tfdsFeature struct {
	class   string // "Image", "ClassLabel", "Text", ...
	classes []string
}

// The JSON files, as far as they are used.
type (
	infoJSON struct {
		FileFormat string `json:"fileFormat"`
		Splits     []struct {
			Name string `json:"name"`
		} `json:"splits"`
	}
	featureJSON struct {
		Class string `json:"pythonClassName"`
		Dict  *struct {
			Features map[string]featureJSON `json:"features"`
		} `json:"featuresDict"`
		Sequence *struct {
			Feature *featureJSON `json:"feature"`
		} `json:"sequence"`
	}
)

// maxSidecar is more than the JSON of any dataset has.
const maxSidecar = 64 << 20

// readTFDS reads the files of TFDS in folder; nil if there are none.
func readTFDS(folder string) (*tfds, error) {
	var root featureJSON
	err := readJSON(filepath.Join(folder, "features.json"), &root)
	if isNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	d := &tfds{features: map[string]tfdsFeature{}}
	if err := d.add(folder, "", &root, 0); err != nil {
		return nil, err
	}
	var info infoJSON
	if err := readJSON(filepath.Join(folder, "dataset_info.json"), &info); err != nil && !isNotExist(err) {
		return nil, err
	}
	if f := info.FileFormat; f != "" && f != "tfrecord" {
		return nil, fmt.Errorf("%s: %w: its dataset_info.json says that the files are %q; only tfrecord is read: "+
			"prepare the dataset with tfds.load(..., builder_kwargs={\"file_format\": \"tfrecord\"})", folder, formats.ErrNotDataset, f)
	}
	for _, s := range info.Splits {
		d.splits = append(d.splits, s.Name)
	}
	return d, nil
}

// add adds a feature and those in it, under their names in examples: those of dicts are joined by '/'.
func (d *tfds) add(folder, name string, f *featureJSON, depth int) error {
	const maxDepth = 32
	if depth > maxDepth {
		return fmt.Errorf("%s: %w: its features.json nests too deeply", folder, formats.ErrDamaged)
	}
	if f.Sequence != nil && f.Sequence.Feature != nil {
		return d.add(folder, name, f.Sequence.Feature, depth+1)
	}
	if f.Dict == nil {
		class := f.Class[strings.LastIndexByte(f.Class, '.')+1:]
		names, err := readNames(filepath.Join(folder, strings.ReplaceAll(name, "/", "-")+".labels.txt"))
		if err != nil && !isNotExist(err) {
			return err
		}
		d.features[name] = tfdsFeature{class, names}
		return nil
	}
	for key, inner := range f.Dict.Features {
		if name != "" {
			key = name + "/" + key
		}
		if err := d.add(folder, key, &inner, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// named lists the features of a class of TFDS's, sorted. d may be nil.
func (d *tfds) named(class string) (names []string) {
	if d == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(d.features)) {
		if d.features[name].class == class {
			names = append(names, name)
		}
	}
	return names
}

// classes returns the names of the classes of a feature. d may be nil.
func (d *tfds) classes(feature string) []string {
	if d == nil {
		return nil
	}
	return d.features[feature].classes
}

// split returns the split of a file of that name: one that the dataset lists.
func (d *tfds) split(name string) (string, bool) {
	name = recordExt.ReplaceAllString(shardOf.ReplaceAllString(name, ""), "")
	best := ""
	for _, s := range d.splits {
		if (strings.HasSuffix(name, "-"+s) || name == s) && len(s) > len(best) {
			best = s
		}
	}
	return best, best != ""
}

func readJSON(path string, to any) error {
	b, err := readSmall(path)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, to); err != nil {
		return fmt.Errorf("%s: %w: %w", path, formats.ErrDamaged, err)
	}
	return nil
}

// readNames reads a name a line.
func readNames(path string) ([]string, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimRight(strings.ReplaceAll(string(b), "\r\n", "\n"), "\n")
	if text == "" {
		return nil, nil
	}
	return strings.Split(text, "\n"), nil
}

// readSmall reads a regular file that describes a dataset.
func readSmall(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSidecar {
		return nil, fmt.Errorf("%s: %w: it is not a regular file of at most %d bytes", path, formats.ErrDamaged, maxSidecar)
	}
	f, err := unblocked.Open(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSidecar))
	return b, errors.Join(err, f.Close())
}
