// Package ilsvrc reads ImageNet's own files of labels: Kaggle's solutions and the development kit of ILSVRC2012.
package ilsvrc

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// What ImageNet's files of labels are called in notices.
const (
	kaggleSolution = "Kaggle's labels of ImageNet: the first class of each row, without the boxes"
	GroundTruth    = "ImageNet's ground truth: the lines are for the images in the order of their names"
)

// The names of the two files of ImageNet's development kit that classes of images follow from.
const (
	groundTruthName = "ILSVRC2012_validation_ground_truth.txt"
	synsetsName     = "meta.mat"
)

// synsetLine is a line of LOC_synset_mapping.txt: a WordNet ID and what it means.
var synsetLine = regexp.MustCompile(`^n\d{8}\s+\S`)

// Recognize finds out whether the sheet is one of ImageNet's files, and makes it one of paths and labels.
func Recognize(s *sheet.Sheet) error {
	switch {
	case slices.Equal(s.Header, []string{"ImageId", "PredictionString"}):
		s.Header, s.Known, s.ByClass = []string{"path", "label"}, kaggleSolution, true
		for _, row := range s.Rows {
			row[1], _, _ = strings.Cut(strings.TrimSpace(row[1]), " ")
		}
	case !slices.ContainsFunc(s.Rows, func(row []string) bool { return !synsetLine.MatchString(strings.Join(row, " ")) }) && len(s.Rows) > 0:
		return errors.New("it lists classes, not images: it is for --class-order")
	case len(s.Header) == 1 && !slices.ContainsFunc(s.Rows, func(row []string) bool { _, ok := synsetNumber(row[0]); return !ok }):
		s.Known = GroundTruth
	}
	return nil
}

func synsetNumber(text string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	return n, err == nil && n > 0
}

// ReadDevkit reads the labels of ImageNet's validation images from its development kit: the folder or the
// archive. The sheet is nil if the file is neither.
func ReadDevkit(in vfs.FS, file, folder string) (*sheet.Sheet, error) {
	name := strings.ToLower(file)
	var truth, synsets []byte
	switch ext := path.Ext(name); {
	case ext == ".tgz" || ext == ".tar" || strings.HasSuffix(name, ".tar.gz"):
		var err error
		if truth, synsets, err = readDevkitArchive(in, file); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	case slices.Contains([]string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt", ".lst"}, ext):
		return nil, nil
	default:
		for _, dir := range []string{filepath.Join(file, "data"), file, filepath.Dir(file)} {
			var err error
			truth, err = vfs.ReadBytes(in, filepath.Join(dir, groundTruthName))
			if err != nil {
				continue
			}
			if synsets, err = vfs.ReadBytes(in, filepath.Join(dir, synsetsName)); err != nil {
				return nil, fmt.Errorf("read the labels: %w", err)
			}
			break
		}
		if truth == nil {
			return nil, nil
		}
	}
	return newGroundTruth(in, file, folder, truth, synsets)
}

// ReadGroundTruth reads the labels of the file of numbers truth; the classes are in a file beside it.
func ReadGroundTruth(in vfs.FS, file, folder string, truth []byte) (*sheet.Sheet, error) {
	synsets, err := vfs.ReadBytes(in, filepath.Join(filepath.Dir(file), synsetsName))
	if err != nil {
		return nil, fmt.Errorf("%s: it has the numbers of ImageNet's classes, and their names are in %s, which is not beside it: "+
			"give the whole development kit, ILSVRC2012_devkit_t12.tar.gz or the folder that it was unpacked to", file, synsetsName)
	}
	return newGroundTruth(in, file, folder, truth, synsets)
}

// newGroundTruth pairs the lines of the ground truth with the images of the folder, in the order of their names.
func newGroundTruth(in vfs.FS, file, folder string, truth, synsets []byte) (*sheet.Sheet, error) {
	classes, err := parseSynsets(synsets)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", file, synsetsName, err)
	}
	numbers, err := sheet.ReadLines(truth)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", file, groundTruthName, err)
	}
	images, err := vfs.AllImages(in, folder)
	if err != nil {
		return nil, err
	}
	if len(images) != len(numbers.Rows) {
		return nil, countError(in, file, folder, len(numbers.Rows), len(images))
	}
	s := &sheet.Sheet{Header: []string{"path", "label"}, Known: GroundTruth, Lines: numbers.Lines}
	for i, row := range numbers.Rows {
		n, _ := synsetNumber(row[0])
		class, ok := classes[n]
		if !ok {
			return nil, fmt.Errorf("%s: line %d: %q is not the number of a class in %s", file, numbers.Lines[i], row[0], synsetsName)
		}
		s.Rows = append(s.Rows, []string{images[i], class})
	}
	s.Classes = slices.Sorted(maps.Values(classes))
	return s, nil
}

func countError(in vfs.FS, file, folder string, lines, images int) error {
	where := "the folder " + folder
	if folder == "" {
		where = in.String()
	}
	err := fmt.Errorf("%s: the ground truth is for %d images, but %s has %d: it is for all of them, in the order of their names", file, lines, where, images)
	if folder == "" {
		err = fmt.Errorf("%w; for one folder of them, such as val, give val=%s", err, file)
	}
	return err
}

// SynsetNames returns the classes of LOC_synset_mapping.txt, in its order; ok is false if b is another file.
func SynsetNames(b []byte) (names []string, ok bool) {
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		if !synsetLine.Match(line) {
			return nil, false
		}
		names = append(names, string(bytes.Fields(line)[0]))
	}
	return names, len(names) > 0
}
