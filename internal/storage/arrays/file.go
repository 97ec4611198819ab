package arrays

import (
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// File is an open file of arrays. Its Data, valid until the dataset's Close, is mapped memory or Go's own.
type File struct {
	Path string
	Data []byte

	state    filestate.State
	mapping  *mapped.Mapping // nil if Data is Go's
	checksum uint64          // of the Data of a file in an archive, which has no state of its own
}

// Map maps the file at path.
func Map(path string) (*File, error) {
	st, err := filestate.Of(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Data: m.Data, state: st, mapping: m}, nil
}

// Unpacked is the file at path whose content is compressed: data is what it contains.
func Unpacked(path string, data []byte) (*File, error) {
	st, err := filestate.Of(path)
	if err != nil {
		return nil, err
	}
	return &File{Path: path, Data: data, state: st}, nil
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
	id := f.state.Identity()
	return [3]int64{id.Size, id.ModTime, int64(id.Inode ^ f.checksum)}
}

// check returns an error if the file was written to since it was mapped.
func (f *File) check() error {
	if f.mapping == nil {
		return nil
	}
	return f.state.Check(f.Path)
}
