package staging

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// File is an append-only file that computes its block checksums as it grows: each byte is
// copied once into the current block, and a full block is checksummed and written.
// It belongs to one goroutine. Errors name the file.
type File struct {
	f      *os.File
	name   string // in Checksums
	block  []byte // the bytes after the last full block
	blocks []uint32
	synced bool
	failed error // the first one; what the disk has is unknown since, so nothing more is written
}

// FileState is a File's state in a checkpoint.
type FileState struct {
	Name   string
	Size   int64
	Digest uint32 // CRC-32C of the block checksums
}

// Create creates one of the format's files and replaces an unfinished one.
func (s *Stage) Create(name string) (*os.File, error) {
	if err := s.Remove(name); err != nil {
		return nil, err
	}
	f, err := s.root.OpenFile(path.Join(dataName, name), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	return f, s.named(err)
}

// Remove removes one of the format's files or folders, with all in it, if it is there.
func (s *Stage) Remove(name string) error {
	return s.named(s.root.RemoveAll(path.Join(dataName, name)))
}

// Mkdir creates a folder among the format's files.
func (s *Stage) Mkdir(name string) error {
	return s.named(s.root.Mkdir(path.Join(dataName, name), 0o755))
}

// Rename renames one of the format's files.
func (s *Stage) Rename(from, to string) error {
	return s.named(s.root.Rename(path.Join(dataName, from), path.Join(dataName, to)))
}

// CreateFile is Create of a File.
func (s *Stage) CreateFile(name string) (*File, error) {
	f, err := s.Create(name)
	if err != nil {
		return nil, err
	}
	return &File{f: f, name: name, block: make([]byte, 0, checksum.BlockSize)}, nil
}

// ReopenFile continues the file that st is of: bytes after st are cut off, bytes before
// are read and compared with it. ErrDamaged if they differ.
func (s *Stage) ReopenFile(st FileState) (*File, error) {
	f, err := s.Open(st.Name)
	if err != nil {
		return nil, err
	}
	w := &File{f: f, name: st.Name, block: make([]byte, 0, checksum.BlockSize), synced: true}
	if err := w.restore(st); err != nil {
		_ = f.Close()
		return nil, err
	}
	return w, nil
}

// Open opens one of the format's files for writing. ErrForeign if it is a link or has
// a second name, since other programs may use it then.
func (s *Stage) Open(name string) (*os.File, error) {
	return openStaged(s.in(path.Join(dataName, name)))
}

func openStaged(file entry) (*os.File, error) {
	f, st, err := file.openRegular(os.O_RDWR)
	if errors.Is(err, os.ErrNotExist) {
		return nil, formats.WrapDamaged(err)
	}
	if err != nil {
		return nil, err
	}
	if sys, ok := st.Sys().(*syscall.Stat_t); ok && sys.Nlink > 1 {
		_ = f.Close()
		return nil, foreignError(file.String(), "the file has a second name (a hard link)")
	}
	return f, nil
}

func (w *File) restore(st FileState) error {
	for left := st.Size; left > 0; {
		w.block = w.block[:min(left, checksum.BlockSize)]
		if _, err := io.ReadFull(w.f, w.block); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s: %w: it is shorter than at the last checkpoint", w.f.Name(), formats.ErrDamaged)
		} else if err != nil {
			return err
		}
		left -= int64(len(w.block))
		if len(w.block) == checksum.BlockSize {
			w.blocks = append(w.blocks, crc32.Checksum(w.block, checksum.Castagnoli))
			w.block = w.block[:0]
		}
	}
	if got := w.State(); got != st {
		return fmt.Errorf("%s: %w: it has changed since the last checkpoint", w.f.Name(), formats.ErrDamaged)
	}
	if err := w.f.Truncate(st.Size); err != nil {
		return err
	}
	_, err := w.f.Seek(int64(len(w.blocks))*checksum.BlockSize, io.SeekStart)
	return err
}

// size is the number of bytes written so far.
func (w *File) size() int64 { return int64(len(w.blocks))*checksum.BlockSize + int64(len(w.block)) }

// Write appends p. After it or Sync has failed, both fail permanently: what the disk has is
// unknown, and a later fsync would not report it.
func (w *File) Write(p []byte) (int, error) {
	n := len(p)
	if w.failed != nil {
		return 0, w.failed
	}
	w.synced = false
	for len(p) > 0 {
		k := copy(w.block[len(w.block):checksum.BlockSize], p)
		w.block = w.block[:len(w.block)+k]
		p = p[k:]
		if len(w.block) == checksum.BlockSize {
			if w.failed = w.writeBlock(); w.failed != nil {
				return n - len(p), w.failed
			}
			w.blocks = append(w.blocks, crc32.Checksum(w.block, checksum.Castagnoli))
			w.block = w.block[:0]
		}
	}
	return n, nil
}

func (w *File) writeBlock() error {
	off := int64(len(w.blocks)) * checksum.BlockSize
	if _, err := w.f.WriteAt(w.block, off); err != nil {
		return err
	}
	// Start writing now, so that little is left for the fsync at the end.
	StartWriteback(w.f, off, int64(len(w.block)))
	return nil
}

// Sync makes all that was written durable.
func (w *File) Sync() error {
	if w.failed != nil || w.synced {
		return w.failed
	}
	if len(w.block) > 0 {
		w.failed = w.writeBlock()
	}
	if w.failed == nil {
		w.failed = w.f.Sync()
	}
	w.synced = w.failed == nil
	return w.failed
}

// State returns what ReopenFile needs to continue from here; call it after Sync.
func (w *File) State() FileState {
	fs := w.Checksums()
	return FileState{Name: w.name, Size: fs.Size, Digest: checksum.Digest(fs.Blocks)}
}

// Checksums returns the checksums of all that was written so far.
func (w *File) Checksums() checksum.FileChecksums {
	fs := checksum.FileChecksums{Name: w.name, Size: w.size(), Blocks: append([]uint32(nil), w.blocks...)}
	if len(w.block) > 0 {
		fs.Blocks = append(fs.Blocks, crc32.Checksum(w.block, checksum.Castagnoli))
	}
	return fs
}

// Close closes the file without syncing it.
func (w *File) Close() error { return w.f.Close() }
