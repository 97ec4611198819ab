package edit

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// UndoOptions are the options of Undo.
type UndoOptions struct {
	// DryRun changes nothing: the report tells what would be done.
	DryRun bool
}

// UndoReport is the result of Undo.
type UndoReport struct {
	Path    string `json:"path"` // of the dataset
	DryRun  bool   `json:"dry_run,omitempty"`
	Samples int    `json:"samples"` // of the restored version
	Was     int    `json:"was"`     // samples of the replaced version, which is kept now
	Kept    string `json:"kept"`    // the path of the kept version
}

// Undo exchanges the dataset at path and its previous version, which an edit kept (Options.KeepOld). A second
// Undo reverts the first. The error is formats.ErrNotDataset if no version was kept, and
// formats.ErrPartial if an edit was interrupted: finish or discard it first.
func Undo(ctx context.Context, reg formats.Registry, path string, o UndoOptions) (*UndoReport, error) {
	if err := new(Options).check(ctx, "edit.Undo", reg, "path", path); err != nil {
		return nil, err
	}
	f, err := reg.ByExistingPath(path)
	if err != nil {
		return nil, err
	}
	if _, ok := f.(formats.WritableFormat); !ok {
		return nil, fmt.Errorf("%s: a %s cannot be changed; only a dataset that dsconv packed can", path, f.Name())
	}
	// If an earlier Undo was stopped while publishing, Recover completes it.
	undoing := staging.UndoPending(path)
	if _, err := staging.Recover(path); err != nil {
		return nil, err
	}
	present, err := metaOf(f, path)
	if err != nil {
		return nil, err
	}
	k, err := staging.FindPrevious(path)
	if err != nil {
		return nil, err
	}
	old, err := metaOf(f, k.Path)
	if err != nil {
		return nil, fmt.Errorf("the kept previous version: %w", err)
	}
	if undoing {
		return &UndoReport{Path: path, DryRun: o.DryRun, Samples: present.Count, Was: old.Count, Kept: k.Path}, nil
	}
	u := &UndoReport{Path: path, DryRun: o.DryRun, Samples: old.Count, Was: present.Count, Kept: k.Path}
	if o.DryRun {
		return u, nil
	}
	if err := exchange(path, *old); err != nil {
		return nil, err
	}
	// The dataset may have been renamed since the previous version was kept.
	if k, err = staging.FindPrevious(path); err != nil {
		return nil, err
	}
	u.Kept = k.Path
	return u, nil
}

// exchange publishes the previous version, whose metadata is old. An unfinished version without
// a checkpoint is dropped for it.
func exchange(path string, old formats.Meta) error {
	err := staging.Undo(path, old)
	if !errors.Is(err, formats.ErrPartial) {
		return err
	}
	if err := staging.DiscardEmpty(path); err != nil {
		return err
	}
	return staging.Undo(path, old)
}

// metaOf returns the metadata of a dataset. Its data may be damaged: that can be the reason to undo.
func metaOf(f formats.Format, path string) (*formats.Meta, error) {
	ds, err := f.Open(path)
	if s, ok := f.(formats.Salvager); ok && errors.Is(err, formats.ErrDamaged) {
		ds, err = s.Salvage(path)
	}
	if err != nil {
		return nil, err
	}
	m := *ds.Meta()
	return &m, ds.Close()
}
