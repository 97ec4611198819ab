package dsconv

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// Open opens the dataset at path: one that dsconv wrote in any format, a folder of images, or an archive of one. If
// nothing is there the error is fs.ErrNotExist. A large folder takes a while to list; OpenSource can
// be cancelled.
func Open(path string) (formats.Dataset, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.Open: the path is empty")}
	}
	return Formats().Open(path)
}

// OpenSource opens what a dataset is packed from: a folder of images, an archive of one or a list of images, read as
// cfg says, or another dataset, for which cfg must name no labels or classes. "-" is a list that cfg.Stdin has, and
// "train=a.tar,val=b/" are several folders and archives as one: see SplitSources and OpenSources.
func OpenSource(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	if ctx == nil || path == "" {
		return nil, wrongOptions{errors.New("dsconv.OpenSource: the context is nil, or the path is empty")}
	}
	return OpenSources(ctx, []string{path}, cfg, formats.ReadOptions{})
}

// openOne opens a source that is none of several.
func openOne(ctx context.Context, path string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.OpenSources: the path is empty")}
	}
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if err := checkKind(path); err != nil {
		return nil, err
	}
	f, err := Formats().ForReading(ctx, path, o)
	switch {
	case err != nil && o.Format != "":
		return nil, wrongOptions{err}
	case len(o.Map) == 0 && (path == "-" && cfg.Stdin != nil || err == nil && f.Name() == "list"):
		return openList(ctx, path, cfg)
	case err == nil && f.Name() == archiveName:
		return openArchive(ctx, path, cfg, o)
	case err == nil && f.Name() != "folder":
		if err := checkNoFolder(path, cfg, orArchive(path)); err != nil {
			return nil, err
		}
		ds, err := formats.OpenFormat(ctx, f, path, o)
		return ds, suggestFormat(f, path, err)
	case len(o.Map) > 0:
		return nil, errMapOfFolder(path)
	}
	d, err := folder.Open(ctx, path, cfg)
	if err != nil {
		return nil, err // not d: a nil *folder.Dataset is not a nil Dataset
	}
	return d, nil
}

// suggestFormat adds the format that the content at path has to err, the error of a dataset that was opened as f.
func suggestFormat(f formats.Format, path string, err error) error {
	if !errors.Is(err, formats.ErrNotDataset) {
		return err
	}
	other, unknown := Formats().ByPath(path)
	if unknown != nil || other.Name() == f.Name() || other.Name() == "folder" {
		return err
	}
	return fmt.Errorf("%w; by its content it has the format %s: give --source-format %s, or leave it out", err, other.Name(), other.Name())
}

// checkNoFolder returns an error, which ends with the hint, if cfg has options of folders, and the source at path is a
// dataset.
func checkNoFolder(path string, cfg folder.Config, hint string) error {
	none := len(cfg.Fields) == 1 && cfg.Fields[0] == folder.FieldsNone
	if len(cfg.Fields)+len(cfg.Boxes)+len(cfg.Captions) > 0 && !none {
		return wrongOptions{fmt.Errorf("%s is a dataset with fields: --field, --boxes and --captions are for folders%s", path, hint)}
	}
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 || cfg.ClassOrder != "" {
		return wrongOptions{fmt.Errorf("%s is a dataset with labels: a table of labels and an order of classes are for folders%s", path, hint)}
	}
	return nil
}

func errMapOfFolder(path string) error {
	return wrongOptions{fmt.Errorf("%s is read as a folder of images: a map is for datasets of other programs; if it is one, name its format: --source-format webdataset, for example", path)}
}

func openList(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 {
		return nil, wrongOptions{fmt.Errorf("%s is a list of images, which has its own labels: leave out tables of labels", path)}
	}
	d, err := folder.OpenList(ctx, path, cfg)
	if err != nil {
		return nil, err
	}
	return d, nil
}

// wrongOptions is a convert.ErrOptions; its text is the error's own.
type wrongOptions struct{ error }

func (e wrongOptions) Unwrap() error { return e.error }

func (wrongOptions) Is(target error) bool { return target == convert.ErrOptions }
