package edit

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// Undone is what Undo did, or would do.
type Undone struct {
	Samples int    `json:"samples"` // of the version that is there again
	Was     int    `json:"was"`     // of the one that it took the place of, which is kept now
	Kept    string `json:"kept"`    // the path of the kept version
}

// Undo exchanges the dataset at path and the version before, which an edit kept. With dry nothing
// is changed.
func Undo(f formats.Format, path string, dry bool) (*Undone, error) {
	if _, ok := f.(formats.WritableFormat); !ok {
		return nil, fmt.Errorf("%s: a %s cannot be changed", path, f.Name())
	}
	// An Undo that was stopped after it had begun to publish is done with that.
	undoing := atrest.UndoPending(path)
	if _, err := atrest.Recover(path); err != nil {
		return nil, err
	}
	present, err := metaOf(f, path)
	if err != nil {
		return nil, err
	}
	k, err := atrest.FindPrevious(path)
	if err != nil {
		return nil, err
	}
	old, err := metaOf(f, k.Path)
	if err != nil {
		return nil, fmt.Errorf("the kept version: %w", err)
	}
	if undoing {
		return &Undone{Samples: present.Count, Was: old.Count, Kept: k.Path}, nil
	}
	u := &Undone{Samples: old.Count, Was: present.Count, Kept: k.Path}
	if dry {
		return u, nil
	}
	err = atrest.Undo(path, *old)
	if errors.Is(err, formats.ErrPartial) {
		if err = atrest.DiscardEmpty(path); err == nil {
			err = atrest.Undo(path, *old)
		}
	}
	if err != nil {
		return nil, err
	}
	// The dataset may have been renamed since the other version was kept.
	if k, err = atrest.FindPrevious(path); err != nil {
		return nil, err
	}
	u.Kept = k.Path
	return u, nil
}

// metaOf describes a dataset whose data may be damaged: that is a reason to undo.
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
