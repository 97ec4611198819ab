// Package outside keeps what is written out of the source that is read.
package outside

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Check returns an error if the path dst is the source src, or is in the folder src: the next run would
// read it as images. A dst of "" is no path.
func Check(dst, src string) error {
	if dst == "" {
		return nil
	}
	from, err := realPath(src)
	if err != nil {
		return err
	}
	to, err := realPath(dst)
	if err != nil {
		return err
	}
	st, err := os.Stat(from)
	isDir := err == nil && st.IsDir() // a pattern of shards is not a folder
	switch {
	case to == from && !isDir:
		return fmt.Errorf("%s is SRC itself: choose another path", dst)
	case to == from, isDir && strings.HasPrefix(to, from+string(filepath.Separator)):
		return fmt.Errorf("%s is inside SRC %s: choose a path outside", dst, src)
	}
	return nil
}

// realPath returns the absolute path without links. What does not exist, such as a new dataset or a
// pattern of shards, is a name in its nearest existing parent.
func realPath(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for up := abs; ; up = filepath.Dir(up) {
		if real, err := filepath.EvalSymlinks(up); err == nil {
			return filepath.Join(real, strings.TrimPrefix(abs, up)), nil
		}
		if up == filepath.Dir(up) {
			return abs, nil
		}
	}
}
