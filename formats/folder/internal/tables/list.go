package tables

import (
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Stdin is the path of standard input.
const Stdin = "-"

// ListName is the name of a list in messages.
func ListName(file string) string {
	if file == Stdin {
		return "the list on standard input"
	}
	return file
}

// ReadList reads the list file and finds its images; input is what stdin stands for. root is the deepest folder that
// has all of them.
func ReadList(file string, input io.Reader, labelColumns []string) (root string, t *Labels, err error) {
	s, err := readListSheet(file, input)
	if err != nil {
		return "", nil, err
	}
	base := "."
	if file != Stdin {
		base = filepath.Dir(file)
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", nil, err
	}
	r, at, err := (&pathFinder{in: vfs.OnDisk(base)}).roles(s, labelColumns)
	if err != nil {
		return "", nil, err
	}
	found, err := findEither(s, func(s *sheet.Sheet) (f files, err error) {
		f.of = s
		f.found, f.notice, f.fits, err = findListed(s.Paths(at), s.Lines, base)
		return f, err
	})
	if err != nil {
		return "", nil, err
	}
	root = commonRoot(found.found)
	t, err = found.labels(&r, File{"", ListName(file)})
	return root, t, err
}

func readListSheet(file string, input io.Reader) (*sheet.Sheet, error) {
	var b []byte
	var err error
	switch {
	case strings.EqualFold(filepath.Ext(file), ".parquet"):
		return sheet.ReadParquet(file)
	case file != Stdin:
		b, err = vfs.ReadText(vfs.OnDisk(""), file)
	case input == nil:
		return nil, errors.New("there is no input to read it from")
	default:
		if b, err = io.ReadAll(input); err == nil {
			b, err = vfs.PlainText(b)
		}
	}
	if err != nil {
		return nil, err
	}
	ext := strings.ToLower(path.Ext(file))
	if file == Stdin {
		if ext = ".txt"; strings.HasPrefix(strings.TrimSpace(string(b[:min(len(b), 1024)])), "{") {
			ext = ".jsonl"
		}
	}
	return sheet.Parse(b, ext)
}

// findListed finds the files that the paths of a list in the folder base mean. Those found are absolute.
func findListed(paths []string, lines []int, base string) (found []foundPath, notice string, fits map[string][]string, err error) {
	absolute := make([]string, len(paths))
	for i, p := range paths {
		if absolute[i] = p; p == "" {
			return nil, "", nil, fmt.Errorf("line %d: the path is empty", lines[i])
		}
		if !filepath.IsAbs(p) {
			absolute[i] = base + "/" + p
		}
	}
	in := vfs.Watch(vfs.OnDisk("/"), nil, nil)
	f := &pathFinder{in: in}
	found, any := f.all(absolute, false)
	for i := range found {
		if found[i].exists {
			found[i].path = "/" + found[i].path
		} else {
			found[i].path = filepath.Clean(absolute[i])
		}
	}
	if any {
		return found, "", f.fits, in.Err()
	}
	here := &pathFinder{in: vfs.OnDisk(base)}
	if moved, notice := here.elsewhere(paths, nil); moved != nil {
		for i := range moved {
			if !moved[i].exists {
				if moved[i].path, err = here.asWritten(paths[i]); err != nil {
					return nil, "", nil, fmt.Errorf("line %d: %w", lines[i], err)
				}
			}
			moved[i].path = filepath.Join(base, moved[i].path)
		}
		return moved, notice, nil, nil
	}
	return found, "", f.fits, in.Err()
}

// commonRoot makes absolute paths relative to the deepest folder that has all of them, which it returns.
func commonRoot(found []foundPath) string {
	root := filepath.Dir(found[0].path)
	for _, f := range found {
		for root != "/" && !strings.HasPrefix(f.path, root+"/") {
			root = filepath.Dir(root)
		}
	}
	prefix := strings.TrimSuffix(root, "/") + "/"
	for i := range found {
		found[i].path = strings.TrimPrefix(found[i].path, prefix)
	}
	return root
}
