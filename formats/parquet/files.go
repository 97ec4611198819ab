package parquet

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// located is a file of a dataset.
type located struct {
	path, split string
}

// numbered are names such as train-00000-of-00003.parquet, as datasets writes them.
var numbered = regexp.MustCompile(`^(.+?)-\d{5,}-of-\d{5,}(-[0-9a-f]+)?(?i:\.parquet)$`)

// splitOf returns the split that a file's name says, or that of its folder.
func splitOf(path string) string {
	base := filepath.Base(path)
	if m := numbered.FindStringSubmatch(base); m != nil && formats.CheckSplit(m[1]) == nil {
		return m[1]
	}
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	word, _, _ := strings.Cut(strings.NewReplacer("_", "-", ".", "-").Replace(stem), "-")
	if split := foreign.SplitOf(word); split != "" {
		return split
	}
	if dir := filepath.Base(filepath.Dir(path)); formats.IsSplitWord(dir) {
		return dir
	}
	return ""
}

// find lists the files of the dataset at path, by split and name.
func find(path string) (files []located, err error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !st.IsDir() {
		if !st.Mode().IsRegular() || !strings.EqualFold(filepath.Ext(path), ".parquet") {
			return nil, nil
		}
		return []located{{path, splitOf(path)}}, nil
	}
	for _, sub := range [][]string{{"."}, {"data"}, formats.SplitWords()} {
		for _, dir := range sub {
			names, err := filepath.Glob(filepath.Join(escape(path), dir, "*.[pP][aA][rR][qQ][uU][eE][tT]"))
			if err != nil {
				return nil, err
			}
			for _, name := range names {
				files = append(files, located{name, splitOf(name)})
			}
		}
		if len(files) > 0 {
			break
		}
	}
	slices.SortFunc(files, func(a, b located) int {
		return cmp.Or(cmp.Compare(prefix(a.split), prefix(b.split)), cmp.Compare(a.path, b.path))
	})
	return files, nil
}

// escape returns the path as a pattern that matches only it.
func escape(path string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(path)
}

func prefix(split string) string {
	if split == "" {
		return ""
	}
	return split + "/"
}

// checkSplits returns an error if some files have a split and others have none.
func checkSplits(path string, files []located) error {
	if len(files) == 0 {
		return fmt.Errorf("%s: %w: it has no .parquet files", path, formats.ErrNotDataset)
	}
	if last := files[len(files)-1]; files[0].split == "" && last.split != "" {
		return fmt.Errorf("%s: %w: the name of %s has a split (%s), that of %s has none: give one of the files, or rename them", path, formats.ErrSchema,
			filepath.Base(last.path), last.split, filepath.Base(files[0].path))
	}
	return nil
}
