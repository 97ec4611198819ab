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

// unpackMarker is the open and locked marker file: only one process at a time writes into the folder.
type unpackMarker struct {
	root *os.Root
	file *os.File
}

// markerContent is the content of the marker file.
type markerContent struct {
	Unpack string `json:"dsconv_unpack"` // the fingerprint
}

// createMarker creates the marker of an empty folder, or opens and locks that of the same unpack.
func createMarker(root *os.Root, dir, fingerprint string) (_ *unpackMarker, err error) {
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
	m := &unpackMarker{root: root, file: f}
	if err := m.lock(dir, fingerprint, len(entries) <= 1); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

func isMarker(e fs.DirEntry) bool { return e.Name() == markerName && e.Type().IsRegular() }

// lock locks the marker and compares its content. alone means that the folder has no other file.
func (m *unpackMarker) lock(dir, fingerprint string, alone bool) error {
	if err := unix.Flock(int(m.file.Fd()), unix.LOCK_EX|unix.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("%s: %w: wait for the other dsconv unpack", dir, formats.ErrLocked)
	} else if err != nil {
		return fmt.Errorf("lock %s: %w", m.file.Name(), err)
	}
	b, err := io.ReadAll(m.file)
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
	if err := m.file.Truncate(0); err != nil {
		return err
	}
	if _, err := m.file.WriteAt(append(b, '\n'), 0); err != nil {
		return err
	}
	return m.file.Sync()
}

var errUnfinishedUnpack = errors.New("an unfinished unpack")

// remove removes the marker when everything that was written is on the disk.
func (m *unpackMarker) remove() error {
	if err := syncDisk(m.file); err != nil {
		return err
	}
	return m.root.Remove(markerName)
}

func (m *unpackMarker) close() { m.file.Close() }
