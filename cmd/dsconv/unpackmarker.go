package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
)

// markerName is a file in a folder that is not complete. No command reads a folder that has it.
const markerName = folder.UnfinishedName

// markerContent is the content of the marker file.
type markerContent struct {
	Unpack string `json:"dsconv_unpack"` // the fingerprint
}

// createMarker creates the marker of an empty folder, or opens that of the same unpack, and locks it:
// only one process at a time writes into the folder.
func createMarker(root *os.Root, dir, fingerprint string) (*os.File, error) {
	entries, err := fs.ReadDir(root.FS(), ".")
	if err != nil {
		return nil, err
	}
	flags := os.O_RDWR
	switch {
	case len(entries) == 0:
		flags |= os.O_CREATE | os.O_EXCL
	case !slices.ContainsFunc(entries, isMarker):
		return nil, fmt.Errorf("%s is not empty: unpack into a new folder", dir)
	}
	f, err := root.OpenFile(markerName, flags, 0o644)
	if err != nil {
		return nil, err
	}
	if err := lockMarker(f, dir, fingerprint, len(entries) <= 1); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func isMarker(e fs.DirEntry) bool { return e.Name() == markerName && e.Type().IsRegular() }

// lockMarker locks the marker and compares its content. alone means that the folder has no other file.
func lockMarker(f *os.File, dir, fingerprint string, alone bool) error {
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w: wait for the other dsconv unpack", dir, formats.ErrLocked)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", f.Name(), err)
	}
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	var was markerContent
	parses := json.Unmarshal(b, &was) == nil
	switch {
	case parses && was.Unpack == fingerprint:
		return nil
	case !alone:
		return fmt.Errorf("%s: %w of another dataset or split, or the dataset has changed: repeat the command that started it, or unpack into a new folder", dir, errUnfinishedUnpack)
	}
	if b, err = json.Marshal(markerContent{fingerprint}); err != nil {
		return err
	}
	if err := f.Truncate(0); err != nil {
		return err
	}
	if _, err := f.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return f.Sync()
}

var errUnfinishedUnpack = errors.New("an unfinished unpack")
