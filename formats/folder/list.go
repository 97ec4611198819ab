package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/formats"
)

// ListFormat opens lists of images with the zero Config.
type ListFormat struct{}

// Name is "list".
func (ListFormat) Name() string { return "list" }

// Match reports whether path is a file with the suffix of a list: see IsList.
func (ListFormat) Match(path string) bool { return path != stdin && IsList(path) }

// Open opens the list at path.
func (ListFormat) Open(path string) (formats.Dataset, error) {
	d, err := OpenList(context.Background(), path, Config{})
	if err != nil {
		return nil, err // not d: a nil *Dataset is not a nil formats.Dataset
	}
	return d, nil
}

// stdin is the path of standard input.
const stdin = "-"

// listExtensions are those of lists.
var listExtensions = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt", ".lst", ".parquet"}

// IsList reports whether path is "-" or a file whose suffix is that of a list of images.
func IsList(path string) bool {
	if path == stdin {
		return true
	}
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && slices.Contains(listExtensions, strings.ToLower(filepath.Ext(path)))
}

// OpenList opens the images that a file lists: a .csv, .tsv, .jsonl, .json or .parquet table with a column of
// paths, or a .txt file with a path on each line, and perhaps a label. "-" reads Config.Stdin, which has a path or a
// JSON object on each line. Paths are absolute, or relative to the folder of the list; those of "-" to the current
// folder. Columns are those of tables of labels. Without labels the images have those of class folders.
//
// The Dataset is that of the deepest folder that has all images, with these images alone. Skips has the rows whose
// files cannot be packed.
func OpenList(ctx context.Context, file string, cfg Config) (*Dataset, error) {
	if ctx == nil {
		return nil, errors.New("folder.OpenList: ctx is nil: give context.Background()")
	}
	if file != stdin {
		if err := formats.CheckPath(file); err != nil {
			return nil, err
		}
	}
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 || cfg.Unlisted != "" {
		return nil, fmt.Errorf("%s: a list of images has its own labels: leave out --labels and --unlisted", listName(file))
	}
	filter, err := cfg.Patterns.Compile()
	if err != nil {
		return nil, err
	}
	root, table, err := readList(file, &cfg)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", listName(file), err)
	}
	cfg.list = table
	return openIn(ctx, disk(root), filter, cfg)
}

func listName(file string) string {
	if file == stdin {
		return "the list on standard input"
	}
	return file
}

// readList reads the list and finds its images. root is the deepest folder that has all of them.
func readList(file string, cfg *Config) (root string, t *labelTable, err error) {
	s, err := readListSheet(file, cfg.Stdin)
	if err != nil {
		return "", nil, err
	}
	r, err := s.roles(cfg.LabelColumns)
	if err != nil {
		return "", nil, err
	}
	at, err := s.position(&r)
	if err != nil {
		return "", nil, err
	}
	base := "."
	if file != stdin {
		base = filepath.Dir(file)
	}
	if base, err = filepath.Abs(base); err != nil {
		return "", nil, err
	}
	found, notice, fits, err := findListed(s.paths(at), s.lines, base)
	if err != nil {
		return "", nil, err
	}
	root = commonRoot(found)
	i := -1
	t = &labelTable{labels: r.labels, field: r.field}
	t.table, err = newTable(s, &r, func(string) (foundPath, error) {
		i++
		return found[i], nil
	})
	if err != nil {
		return "", nil, err
	}
	f := labelFile{"", listName(file)}
	t.fits, t.files, t.notices = fits, []tablePart{{f, 0}}, s.notices(&r, f, notice)
	return root, t, nil
}

func readListSheet(file string, input io.Reader) (*sheet, error) {
	var b []byte
	var err error
	switch {
	case strings.EqualFold(filepath.Ext(file), ".parquet"):
		return readParquet(file)
	case file != stdin:
		b, err = readText(disk(""), file)
	case input == nil:
		return nil, errors.New("there is no input to read it from")
	default:
		if b, err = io.ReadAll(input); err == nil {
			b, err = plainText(b)
		}
	}
	if err != nil {
		return nil, err
	}
	ext := strings.ToLower(path.Ext(file))
	if file == stdin {
		if ext = ".txt"; strings.HasPrefix(strings.TrimSpace(string(b[:min(len(b), 1024)])), "{") {
			ext = ".jsonl"
		}
	}
	if ext == ".txt" || ext == ".lst" {
		return readListLines(b)
	}
	return parseSheet(b, ext)
}

// readListLines is readLines, but a line that ends in the name of an image is a path, whatever spaces it has.
func readListLines(b []byte) (*sheet, error) {
	s := &sheet{header: []string{"path"}}
	n := 0
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); strings.TrimSpace(line) == "" {
			continue
		}
		if !hasImageName(line) {
			return readLines(b)
		}
		s.rows, s.lines = append(s.rows, []string{line}), append(s.lines, n)
	}
	if len(s.rows) == 0 {
		return nil, errors.New("it is empty")
	}
	return s, nil
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
	f := &pathFinder{in: disk("/")}
	found, any := f.all(absolute, false)
	for i := range found {
		if found[i].exists {
			found[i].path = "/" + found[i].path
		} else {
			found[i].path = filepath.Clean(absolute[i])
		}
	}
	if any {
		return found, "", f.fits, nil
	}
	here := &pathFinder{in: disk(base)}
	if moved, notice := here.elsewhere(paths, nil); moved != nil {
		for i := range moved {
			moved[i].path = filepath.Join(base, moved[i].path)
		}
		return moved, notice, nil, nil
	}
	return found, "", f.fits, nil
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

// walkList looks at the files of the table instead of walking a folder.
func (s *scan) walkList(ctx context.Context, t *table) error {
	s.classes = classFolders{}
	var workers sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for w := range maxListings {
		workers.Go(func() {
			if err := s.listed(ctx, t, w); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failed = errors.Join(failed, err)
			}
		})
	}
	workers.Wait()
	return errors.Join(failed, ctx.Err())
}

// listed adds every maxListings-th file of the table.
func (s *scan) listed(ctx context.Context, t *table, first int) error {
	var files []file
	for i := first; i < len(t.paths) && ctx.Err() == nil; i += maxListings {
		rel := t.paths[i]
		if !t.exists[i] || !s.wantsListed(rel) {
			continue
		}
		st, err := s.in.stat(rel)
		if err != nil {
			s.skip(rel, whyUnread(rel, err))
			continue
		}
		if files = s.file(file{path: rel, size: st.Size(), modTime: modTimeOf(st)}, st.Mode().IsRegular(), nil, files); len(files) == maxEntries {
			if err := s.found.add(files); err != nil {
				return err
			}
			files = files[:0]
		}
	}
	return s.found.add(files)
}

// wantsListed reports whether the file of a row is an image that is selected, and marks its folder as one of a
// class. Names of other files are rows without an image: see table.whyNotFound.
func (s *scan) wantsListed(rel string) bool {
	ext := strings.ToLower(path.Ext(rel))
	switch {
	case !hasImageName(rel), !s.filter.IncludesFile(rel):
		return false
	case slices.Contains(unreadExtensions, ext):
		s.skip(rel, "dsconv cannot read "+ext[1:]+" images")
		return false
	}
	if dir := path.Dir(rel); dir != "." {
		s.mu.Lock()
		s.classes.mark(dir)
		s.mu.Unlock()
	}
	return true
}
