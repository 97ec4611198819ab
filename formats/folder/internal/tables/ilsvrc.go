package tables

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/wire"
)

// What ImageNet's files of labels are called in notices.
const (
	kaggleSolution = "Kaggle's labels of ImageNet: the first class of each row, without the boxes"
	groundTruth    = "ImageNet's ground truth: the lines are for the images in the order of their names"
)

// The names of the two files of ImageNet's development kit that classes of images follow from.
const (
	groundTruthName = "ILSVRC2012_validation_ground_truth.txt"
	synsetsName     = "meta.mat"
)

// synsetLine is a line of LOC_synset_mapping.txt: a WordNet ID and what it means.
var synsetLine = regexp.MustCompile(`^n\d{8}\s+\S`)

// recognize finds out whether the sheet is one of ImageNet's files, and makes it one of paths and labels.
func recognize(s *Sheet) error {
	switch {
	case slices.Equal(s.Header, []string{"ImageId", "PredictionString"}):
		s.Header, s.known, s.byClass = []string{"path", "label"}, kaggleSolution, true
		for _, row := range s.Rows {
			row[1], _, _ = strings.Cut(strings.TrimSpace(row[1]), " ")
		}
	case !slices.ContainsFunc(s.Rows, func(row []string) bool { return !synsetLine.MatchString(strings.Join(row, " ")) }) && len(s.Rows) > 0:
		return errors.New("it lists classes, not images: it is for --class-order")
	case len(s.Header) == 1 && !slices.ContainsFunc(s.Rows, func(row []string) bool { _, ok := synsetNumber(row[0]); return !ok }):
		s.known = groundTruth
	}
	return nil
}

func synsetNumber(text string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	return n, err == nil && n > 0
}

// readDevkit reads the labels of ImageNet's validation images from its development kit: the folder or the
// archive. The sheet is nil if the file is neither.
func readDevkit(in vfs.FS, file, folder string) (*Sheet, error) {
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

// readGroundTruth reads the labels of the file of numbers truth; the classes are in a file beside it.
func readGroundTruth(in vfs.FS, file, folder string, truth []byte) (*Sheet, error) {
	synsets, err := vfs.ReadBytes(in, filepath.Join(filepath.Dir(file), synsetsName))
	if err != nil {
		return nil, fmt.Errorf("%s: it has the numbers of ImageNet's classes, and their names are in %s, which is not beside it: "+
			"give the whole development kit, ILSVRC2012_devkit_t12.tar.gz or the folder that it was unpacked to", file, synsetsName)
	}
	return newGroundTruth(in, file, folder, truth, synsets)
}

// newGroundTruth pairs the lines of the ground truth with the images of the folder, in the order of their names.
func newGroundTruth(in vfs.FS, file, folder string, truth, synsets []byte) (*Sheet, error) {
	classes, err := parseSynsets(synsets)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", file, synsetsName, err)
	}
	numbers, err := readLines(truth)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w", file, groundTruthName, err)
	}
	images, err := vfs.AllImages(in, folder)
	if err != nil {
		return nil, err
	}
	if len(images) != len(numbers.Rows) {
		where, advice := "the folder "+folder, ""
		if folder == "" {
			where, advice = in.String(), fmt.Sprintf("; for one folder of them, such as val, give val=%s", file)
		}
		return nil, fmt.Errorf("%s: the ground truth is for %d images, but %s has %d: it is for all of them, in the order of their names%s",
			file, len(numbers.Rows), where, len(images), advice)
	}
	s := &Sheet{Header: []string{"path", "label"}, known: groundTruth, Lines: numbers.Lines}
	for i, row := range numbers.Rows {
		n, _ := synsetNumber(row[0])
		class, ok := classes[n]
		if !ok {
			return nil, fmt.Errorf("%s: line %d: %q is not the number of a class in %s", file, numbers.Lines[i], row[0], synsetsName)
		}
		s.Rows = append(s.Rows, []string{images[i], class})
	}
	s.classes = slices.Sorted(maps.Values(classes))
	return s, nil
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

// Bounds of an archive of the development kit, which has 2.5 MB, unpacked 10.
const (
	maxDevkit     = 1 << 30
	maxDevkitFile = 64 << 20
)

var errNoDevkit = errors.New("it is not ImageNet's development kit: it lacks " + groundTruthName + " or " + synsetsName)

// readDevkitArchive returns the two files of the development kit that the labels follow from. The archive is
// read as a stream, and not further than to the second of them.
func readDevkitArchive(in vfs.FS, name string) (truth, synsets []byte, err error) {
	f, err := in.OpenText(name)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if !strings.HasSuffix(strings.ToLower(name), ".tar") {
		z, err := gzip.NewReader(r)
		if err != nil {
			return nil, nil, fmt.Errorf("not a tar.gz: %w", err)
		}
		r = z
	}
	limited := &io.LimitedReader{R: r, N: maxDevkit}
	t := tar.NewReader(limited)
	for truth == nil || synsets == nil {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF) || limited.N == 0:
			return nil, nil, errNoDevkit
		case err != nil:
			return nil, nil, err
		case h.Typeflag != tar.TypeReg:
			continue
		}
		to := &truth
		switch path.Base(h.Name) {
		case groundTruthName:
		case synsetsName:
			to = &synsets
		default:
			continue
		}
		if *to, err = readMember(t, h); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", path.Base(h.Name), err)
		}
	}
	return truth, synsets, nil
}

func readMember(r io.Reader, h *tar.Header) ([]byte, error) {
	if h.Size > maxDevkitFile {
		return nil, fmt.Errorf("a file of %d bytes is too large for the development kit", h.Size)
	}
	b, err := io.ReadAll(io.LimitReader(r, maxDevkitFile))
	if err == nil && len(b) == 0 {
		err = errors.New("it is empty")
	}
	return b, err
}

// wordNetID is a WordNet ID as MATLAB stores text: as bytes, or as UTF-16.
var wordNetID = regexp.MustCompile(`n\x00?(?:[0-9]\x00?){8}`)

// parseSynsets returns the WordNet IDs of meta.mat by their numbers, which are 1 to 1000: those with children have larger
// ones. The file is MATLAB's version 5: a header of 128 bytes, then elements of a type and a size, which zlib compresses
// (The MathWorks, MAT-File Format). An ID's number is the field before it.
func parseSynsets(b []byte) (map[int]string, error) {
	text, err := unpackMatlab(b)
	if err != nil {
		return nil, err
	}
	ids := map[int]string{}
	for _, at := range wordNetID.FindAllIndex(text, -1) {
		n := numberBefore(text[:at[0]])
		if ids[n] != "" {
			return nil, fmt.Errorf("two WordNet IDs have the number %d", n)
		}
		if n >= 1 && n <= 1000 {
			ids[n] = string(bytes.ReplaceAll(text[at[0]:at[1]], []byte{0}, nil))
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("it has no WordNet IDs: it is not of the development kit of ILSVRC2012")
	}
	return ids, nil
}

func unpackMatlab(b []byte) (text []byte, err error) {
	const header, compressed = 128, 15
	for b = b[min(header, len(b)):]; len(b) >= 8 && len(text) < maxDevkitFile; {
		kind, size := binary.LittleEndian.Uint32(b), uint64(binary.LittleEndian.Uint32(b[4:]))
		if kind != compressed {
			return append(text, b...), nil
		}
		if b = b[8:]; size > uint64(len(b)) {
			return nil, errors.New("the file is cut off")
		}
		z, err := zlib.NewReader(bytes.NewReader(b[:size]))
		if err != nil {
			return nil, err
		}
		element, err := io.ReadAll(io.LimitReader(z, maxDevkitFile))
		if err != nil {
			return nil, err
		}
		text, b = append(text, element...), b[size:]
	}
	return text, nil
}

// numberBefore returns the value of the array of one number that ends where the array of the WordNet ID begins which
// follows b; 0 if there is none. Between them are the tags of that array, its flags, size and empty name.
func numberBefore(b []byte) int {
	const tags, double = 56, 9
	if len(b) < tags+16 {
		return 0
	}
	if length := binary.LittleEndian.Uint32(b[len(b)-4:]); length != 9 && length != 18 {
		return 0 // an ID within another text
	}
	b = b[len(b)-tags-16 : len(b)-tags]
	if binary.LittleEndian.Uint64(b) == 8<<32|double {
		n, _ := wire.Whole(math.Float64frombits(binary.LittleEndian.Uint64(b[8:])), math.MaxInt32)
		return n
	}
	// MATLAB stores a small whole number in one or two bytes, in the tag itself.
	if size := binary.LittleEndian.Uint16(b[10:]); size != 1 && size != 2 {
		return 0
	}
	return int(binary.LittleEndian.Uint16(b[12:])) // what one byte does not fill is 0
}
