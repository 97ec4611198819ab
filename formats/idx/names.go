package idx

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
)

// imagesName are the names of files of images: set and split, and what follows.
var imagesName = regexp.MustCompile(`^(?:(.*)[-_])?([A-Za-z0-9]+)[-_.]images[-_.]idx[34]-ubyte(\.gz)?$`)

// pair is the files of a split.
type pair struct {
	set    string // "" or such as emnist-letters
	split  string
	images string // paths
	labels string
}

// parsePair returns the pair that the file of images at path belongs to.
func parsePair(path string) (p pair, ok bool) {
	m := imagesName.FindStringSubmatch(filepath.Base(path))
	if m == nil {
		return p, false
	}
	p = pair{set: m[1], split: m[2], images: path}
	if p.split == "t10k" {
		p.split = "test"
	}
	p.labels = labelsBeside(path)
	return p, formats.CheckSplit(p.split) == nil
}

// labelsBeside returns the path of the labels of the images at path, "" if there are none.
func labelsBeside(path string) string {
	dir, name := filepath.Split(strings.TrimSuffix(path, ".gz"))
	at := strings.LastIndex(name, "images")
	stem := dir + name[:at] + "labels"
	for _, middle := range []string{"-", ".", "_"} {
		for _, end := range []string{"", ".gz"} {
			if labels := stem + middle + "idx1-ubyte" + end; durable.IsFile(labels) {
				return labels
			}
		}
	}
	return ""
}

// rawFolders are where torchvision puts the files below the folder that it is given.
var rawFolders = []string{"", "raw", "MNIST/raw", "FashionMNIST/raw", "KMNIST/raw", "EMNIST/raw"}

// find lists the pairs of the dataset at path, a file of images or a folder. There are none if path is not IDX's.
func find(path string) []pair {
	if st, err := os.Stat(path); err != nil {
		return nil
	} else if !st.IsDir() {
		if p, ok := parsePair(path); ok && begins(path, 3) {
			return []pair{p}
		}
		return nil
	}
	for _, sub := range rawFolders {
		if pairs := findIn(filepath.Join(path, sub)); len(pairs) > 0 {
			return pairs
		}
	}
	return nil
}

// findIn lists the pairs in a folder by their sets and splits. A file that is there decompressed too is left out.
func findIn(dir string) (pairs []pair) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		p, ok := parsePair(filepath.Join(dir, e.Name()))
		if ok && begins(p.images, 3) {
			pairs = append(pairs, p)
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.set, b.set), cmp.Compare(a.split, b.split), cmp.Compare(len(a.images), len(b.images)))
	})
	return slices.CompactFunc(pairs, func(a, b pair) bool { return a.set == b.set && a.split == b.split })
}

// choose returns the pairs of the one set that is asked for, or that is there.
func choose(path, set string, pairs []pair) ([]pair, error) {
	var sets []string
	for _, p := range pairs {
		if !slices.Contains(sets, p.set) {
			sets = append(sets, p.set)
		}
	}
	switch {
	case len(pairs) == 0:
		return nil, fmt.Errorf("%s: %w: it has no IDX files of images, such as train-images-idx3-ubyte", path, formats.ErrNotDataset)
	case set == "" && len(sets) == 1:
		return pairs, nil
	case set == "":
		return nil, fmt.Errorf("%s: %w: it has the files of several datasets (%s): choose one, such as --map image=%s", path, formats.ErrSchema,
			strings.Join(sets, ", "), cmp.Or(sets[0], sets[1]))
	}
	chosen := slices.DeleteFunc(slices.Clone(pairs), func(p pair) bool { return p.set != set })
	if len(chosen) == 0 {
		return nil, fmt.Errorf("%s: %w: it has no files whose names begin with %q; it has those of %s", path, formats.ErrSchema, set, strings.Join(sets, ", "))
	}
	return chosen, nil
}
