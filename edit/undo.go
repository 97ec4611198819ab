package edit

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// Undone is the result of Undo.
type Undone struct {
	Samples int    `json:"samples"` // of the restored version
	Was     int    `json:"was"`     // of the replaced version, which is kept now
	Kept    string `json:"kept"`    // the path of the kept version
}

// Undo exchanges the dataset at path and its previous version, which an edit kept. With dry nothing is
// changed.
func Undo(f formats.Format, path string, dry bool) (*Undone, error) {
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
		return &Undone{Samples: present.Count, Was: old.Count, Kept: k.Path}, nil
	}
	u := &Undone{Samples: old.Count, Was: present.Count, Kept: k.Path}
	if dry {
		return u, nil
	}
	err = staging.Undo(path, *old)
	if errors.Is(err, formats.ErrPartial) {
		if err = staging.DiscardEmpty(path); err == nil {
			err = staging.Undo(path, *old)
		}
	}
	if err != nil {
		return nil, err
	}
	// The dataset may have been renamed since the previous version was kept.
	if k, err = staging.FindPrevious(path); err != nil {
		return nil, err
	}
	u.Kept = k.Path
	return u, nil
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
