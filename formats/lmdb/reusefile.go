//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

var _ formats.FileReuser = (*writer)(nil)

// ReuseFile implements formats.FileReuser: file 0 is the whole environment, which is reused with
// all its values. change may alter what is in the manifest: source, a designated label of kind
// Label, split and columns.
func (w *writer) ReuseFile(i int, change func(*formats.Info)) error {
	if err := w.CheckOpen(); err != nil {
		return err
	}
	if i != 0 || w.reused != nil || w.Len() > 0 {
		return errors.New("an LMDB dataset has one file: it is either reused or written again, not both")
	}
	environments, err := openEnvironments(w.ReplacedPath(""), w.Meta.Schema)
	if err != nil {
		return errors.Join(err, closeAll(environments))
	}
	defer closeAll(environments) //nolint:errcheck // it was only read
	old, sums, err := w.Replaced(places(environments, ignore))
	if err != nil {
		return err
	}
	for _, fs := range sums {
		if fs.Name == dataName || fs.Name == fieldsName+"/"+dataName {
			w.reused = append(w.reused, fs)
		}
	}
	return errors.Join(old.EachRow(change, w.AppendRow), old.CloseIndex())
}

// linkReused links the old data files into the staging folder, which takes no time and no space,
// or copies them if the file system has no hard links.
func (w *writer) linkReused() error {
	for _, s := range w.stores() {
		if err := s.close(); err != nil {
			return err
		}
		if err := s.removeLock(); err != nil {
			return err
		}
	}
	for _, fs := range w.reused {
		from, to := w.ReplacedPath(fs.Name), filepath.Join(w.Path(stagedName), filepath.FromSlash(fs.Name))
		if err := w.Remove(path.Join(stagedName, fs.Name)); err != nil {
			return err
		}
		if err := staging.LinkOrCopy(from, to); err != nil {
			return fmt.Errorf("reuse %s: %w", from, err)
		}
		if err := durable.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
	}
	return nil
}
