package idx

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

// maxRatio is more than deflate can compress.
const maxRatio = 1100

// array is an open IDX file.
type array struct {
	*arrays.File
	header
}

// openArray opens the file of that name. left is what compressed files may still take; the array's size is taken from it.
func openArray(dir arrays.Dir, name string, left *int64) (a *array, err error) {
	a = new(array)
	path := dir.Path(name)
	if strings.HasSuffix(name, ".gz") {
		a.File, err = unpack(dir, name, left)
	} else {
		a.File, err = dir.Load(name, left)
	}
	if err != nil {
		return nil, err
	}
	err = a.Guarded(func() error {
		a.header, err = parseHeader(a.Data)
		if err == nil {
			err = a.check(int64(len(a.Data)))
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), a.Close())
	}
	return a, nil
}

// unpack decompresses the file of that name.
func unpack(dir arrays.Dir, name string, left *int64) (*arrays.File, error) {
	f, err := dir.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	data, err := inflate(f, st.Size(), left)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir.Path(name), err)
	}
	return dir.Unpacked(name, data)
}

// inflate decompresses an IDX file of size bytes. Memory is allocated for what its header claims, if the file can
// contain that.
func inflate(r io.Reader, size int64, left *int64) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, fmt.Errorf("%w: it is not a gzip file: %w", formats.ErrDamaged, err)
	}
	front := make([]byte, headerBytes)
	n, err := io.ReadFull(z, front)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return nil, unpackError(err)
	}
	h, err := parseHeader(front[:n])
	if err != nil {
		return nil, err
	}
	total, ok := h.total(*left)
	if !ok {
		return nil, fmt.Errorf("%w: its header claims an array of %v: compressed files of a dataset may have %d bytes; decompress it with gunzip",
			formats.ErrSchema, h.dims, arrays.MaxUnpacked)
	}
	if total > size*maxRatio {
		return nil, fmt.Errorf("%w: its header claims an array of %v, which a file of %d bytes cannot contain", formats.ErrDamaged, h.dims, size)
	}
	*left -= total
	data := make([]byte, total)
	copied := copy(data, front[:n])
	if copied < n {
		return nil, fmt.Errorf("%w: bytes follow its array of %v", formats.ErrDamaged, h.dims)
	}
	if _, err := io.ReadFull(z, data[copied:]); err != nil {
		return nil, unpackError(err)
	}
	return data, atEnd(z, &h)
}

// atEnd checks that z ends here, with its checksum.
func atEnd(z io.Reader, h *header) error {
	switch n, err := io.ReadFull(z, make([]byte, 1)); {
	case n > 0:
		return fmt.Errorf("%w: bytes follow its array of %v", formats.ErrDamaged, h.dims)
	case !errors.Is(err, io.EOF):
		return unpackError(err)
	}
	return nil
}

func unpackError(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: it is truncated", formats.ErrDamaged)
	}
	return fmt.Errorf("%w: it cannot be decompressed: %w", formats.ErrDamaged, err)
}

// begins reports whether the file of that name begins as an IDX file of so many dimensions, at least, does.
func begins(dir arrays.Dir, name string, dims int) bool {
	f, err := dir.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			return false
		}
	}
	front := make([]byte, 4)
	_, err = io.ReadFull(r, front)
	return err == nil && front[0] == 0 && front[1] == 0 && int(front[3]) >= dims && (front[2] == uint8Code || typeNames[front[2]] != "")
}
