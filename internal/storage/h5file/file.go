package h5file

import (
	"bytes"
	"sync"
)

const signature = "\x89HDF\r\n\x1a\n"

// File is the structure of an HDF5 file.
type File struct {
	data []byte // from the superblock on
	root group
	// Links are the names of soft and external links that groups had, the first few. They are not followed.
	Links []string

	heaps struct {
		sync.Mutex
		entries map[uint64][]heapEntry // by address
		left    int                    // bytes that heaps may still have: they do not overlap
	}
	groups map[uint64]groupMembers // by the address of the header; used by one goroutine
}

// group is where the members of a group are.
type group struct {
	header uint64
}

// Is reports whether b, the beginning of a file, is that of an HDF5 file without a user block.
func Is(b []byte) bool { return bytes.HasPrefix(b, []byte(signature)) }

// Open reads the superblock of data, the bytes of a file.
func Open(data []byte) (*File, error) {
	at := 0
	for ; at+len(signature) <= len(data); at = max(512, 2*at) { // after a user block
		if Is(data[at:]) {
			return open(data[at:])
		}
	}
	return nil, damaged("it is not an HDF5 file")
}

func open(data []byte) (*File, error) {
	c := &cursor{b: data[len(signature):]}
	f := &File{data: data, groups: map[uint64]groupMembers{}}
	f.heaps.left = len(data)
	switch version := c.u8(); version {
	case 0, 1:
		c.take(4)
		offsets, lengths := c.u8(), c.u8()
		if offsets != 8 || lengths != 8 {
			return nil, unsupported("an HDF5 file with offsets of %d bytes", offsets)
		}
		c.take(1 + 2 + 2 + 4)
		if version == 1 {
			c.take(4)
		}
		c.take(4 * 8) // base address, free space, end of file, driver
		c.take(8)     // the root's name
		f.root.header = c.u64()
	case 2, 3:
		offsets, lengths := c.u8(), c.u8()
		if offsets != 8 || lengths != 8 {
			return nil, unsupported("an HDF5 file with offsets of %d bytes", offsets)
		}
		c.take(1 + 3*8) // flags, base address, extension, end of file
		f.root.header = c.u64()
	default:
		return nil, unsupported("version %d of the superblock", version)
	}
	if c.failed {
		return nil, damaged("the superblock is not complete")
	}
	return f, nil
}

// bytes returns n bytes at an address.
func (f *File) bytes(at uint64, n uint64) ([]byte, error) {
	if at > uint64(len(f.data)) || n > uint64(len(f.data))-at {
		return nil, damaged("%d bytes at byte %d, but the file has %d", n, at, len(f.data))
	}
	return f.data[at : at+n : at+n], nil
}

// from returns what is in the file from an address on.
func (f *File) from(at uint64) (*cursor, error) {
	if at >= uint64(len(f.data)) {
		return nil, damaged("the address %d, but the file has %d bytes", at, len(f.data))
	}
	return &cursor{b: f.data[at:]}, nil
}
