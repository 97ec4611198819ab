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
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// imagesName are the names of files of images: set and split, and what follows.
var imagesName = regexp.MustCompile(`^(?:(.*)[-_])?([A-Za-z0-9]+)[-_.]images[-_.]idx[34]-ubyte(\.gz)?$`)

// pair is the files of a split.
type pair struct {
	set    string // "" or such as emnist-letters
	split  string
	dir    arrays.Dir
	images string // names in dir
	labels string
}

// parsePair returns the pair that the file of images with that name belongs to.
func parsePair(dir arrays.Dir, name string) (p pair, ok bool) {
	m := imagesName.FindStringSubmatch(name)
	if m == nil {
		return p, false
	}
	p = pair{set: m[1], split: m[2], dir: dir, images: name}
	if p.split == "t10k" {
		p.split = "test"
	}
	p.labels = labelsBeside(dir, name)
	return p, formats.CheckSplit(p.split) == nil
}

// labelsBeside returns the name of the labels of the images with that name, "" if there are none.
func labelsBeside(dir arrays.Dir, name string) string {
	stem := name[:strings.LastIndex(name, "images")] + "labels"
	for _, middle := range []string{"-", ".", "_"} {
		for _, end := range []string{"", ".gz"} {
			if labels := stem + middle + "idx1-ubyte" + end; dir.IsFile(labels) {
				return labels
			}
		}
	}
	return ""
}

// rawFolders are where torchvision puts the files below the folder that it is given, and where EMNIST's archive has them.
var rawFolders = []string{"", "raw", "MNIST/raw", "FashionMNIST/raw", "KMNIST/raw", "EMNIST/raw", "gzip"}

// find lists the pairs of the dataset at path, a file of images or a folder. There are none if path is not IDX's.
func find(path string) []pair {
	if st, err := os.Stat(path); err != nil {
		return nil
	} else if st.IsDir() {
		return findBelow(arrays.OnDisk(path))
	}
	dir := arrays.OnDisk(filepath.Dir(path))
	if p, ok := parsePair(dir, filepath.Base(path)); ok && begins(dir, p.images, 3) {
		return []pair{p}
	}
	return nil
}

// findBelow lists the pairs in a folder, or where torchvision puts them below it.
func findBelow(root arrays.Dir) []pair {
	for _, sub := range rawFolders {
		if pairs := findIn(root.Sub(sub)); len(pairs) > 0 {
			return pairs
		}
	}
	return nil
}

// findIn lists the pairs in a folder by their sets and splits. A file that is there decompressed too is left out.
func findIn(dir arrays.Dir) (pairs []pair) {
	for _, name := range dir.Names() {
		p, ok := parsePair(dir, name)
		if ok && begins(dir, name, 3) {
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
