package folder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// ListFormat opens lists of images with the zero Config.
type ListFormat struct{}

// Name is "list".
func (ListFormat) Name() string { return "list" }

// Match reports whether path is a file with the suffix of a list: see IsList.
func (ListFormat) Match(path string) bool { return path != tables.Stdin && IsList(path) }

// Open opens the list at path.
func (ListFormat) Open(path string) (formats.Dataset, error) {
	d, err := OpenList(context.Background(), path, Config{})
	if err != nil {
		return nil, err // not d: a nil *Dataset is not a nil formats.Dataset
	}
	return d, nil
}

// listExtensions are those of lists.
var listExtensions = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt", ".lst", ".parquet"}

// IsList reports whether path is "-" or a file whose suffix is that of a list of images.
func IsList(path string) bool {
	if path == tables.Stdin {
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
	if file != tables.Stdin {
		if err := formats.CheckPath(file); err != nil {
			return nil, err
		}
	}
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 {
		return nil, fmt.Errorf("%s: a list of images has its own labels: leave out --labels", tables.ListName(file))
	}
	if err := cfg.Patterns.Validate(); err != nil {
		return nil, err
	}
	root, table, err := tables.ReadList(file, cfg.Stdin, cfg.LabelColumns)
	if advice := adviceOn(file); err != nil && advice != "" {
		return nil, fmt.Errorf("%s: %w: %s", file, formats.ErrNotDataset, advice)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tables.ListName(file), err)
	}
	cfg.list = table
	return openIn(ctx, vfs.OnDisk(root), cfg)
}
