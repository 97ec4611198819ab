package arrays

import (
	"os"
	"syscall"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// File is an open file of arrays. Its Data, valid until the dataset's Close, is mapped memory or Go's own.
type File struct {
	Path string
	Data []byte

	info     os.FileInfo
	mapping  *mapped.Mapping // nil if Data is Go's
	checksum uint64          // of the Data of a file in an archive, whose info does not tell it from others
}

// Map maps the file at path.
func Map(path string) (*File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Data: m.Data, info: st, mapping: m}, nil
}

// Unpacked is the file at path whose content is compressed: data is what it contains.
func Unpacked(path string, data []byte) (*File, error) {
	st, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Data: data, info: st}, nil
}

// Guarded calls read, which reads Data, and returns the file's unreadable pages as an error.
func (f *File) Guarded(read func() error) error { return guard.Read(f.Data, read) }

// Close frees the memory of a file that is not part of a dataset.
func (f *File) Close() error {
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Close()
}

// identity tells the file from another one at its path, and from an earlier content.
func (f *File) identity() [3]int64 {
	id := [3]int64{f.info.Size(), f.info.ModTime().UnixNano(), int64(f.checksum)}
	if sys, ok := f.info.Sys().(*syscall.Stat_t); ok {
		id[2] = int64(sys.Ino)
	}
	return id
}
