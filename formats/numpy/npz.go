package numpy

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/arrays"
)

const (
	// maxRatio is more than deflate can compress.
	maxRatio = 1100
	// maxMembers is more than any archive of arrays has.
	maxMembers = 10_000
)

// archive is an .npz file.
type archive struct {
	file    *arrays.File
	members map[string]*zip.File
	order   []string
	left    int64 // bytes that compressed members may still take
}

// openArchive maps the archive at path, which is set's file then.
func openArchive(path string, set *arrays.Set) (*archive, error) {
	file, err := arrays.Map(path)
	if err != nil {
		return nil, err
	}
	set.Files = append(set.Files, file)
	a := &archive{file: file, members: map[string]*zip.File{}, left: maxUnpacked}
	if err := file.Guarded(a.list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return a, nil
}

// list reads the archive's directory.
func (a *archive) list() error {
	z, err := zip.NewReader(bytes.NewReader(a.file.Data), int64(len(a.file.Data)))
	if err != nil {
		return fmt.Errorf("%w: it is not an .npz archive: %w", formats.ErrDamaged, err)
	}
	if len(z.File) > maxMembers {
		return fmt.Errorf("%w: it has %d members: an .npz archive may have %d", formats.ErrSchema, len(z.File), maxMembers)
	}
	for _, f := range z.File {
		name, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if a.members[name] != nil {
			return fmt.Errorf("%w: it has two arrays named %q", formats.ErrDamaged, name)
		}
		a.members[name] = f
		a.order = append(a.order, name)
	}
	return nil
}

func (a *archive) names() []string { return a.order }

func (a *archive) open(name string, set *arrays.Set) (*member, error) {
	m := &member{file: a.file}
	err := a.file.Guarded(func() error {
		b, err := a.content(a.members[name])
		if err != nil {
			return err
		}
		if a.members[name].Method == zip.Deflate {
			if m.file, err = arrays.Unpacked(a.file.Path, b); err != nil {
				return err
			}
			set.Files = append(set.Files, m.file)
		}
		return m.parse(b)
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %s.npy: %w", a.file.Path, name, err)
	}
	return m, nil
}

// content returns the bytes of a member: part of the mapped file, or decompressed.
func (a *archive) content(f *zip.File) ([]byte, error) {
	const encrypted = 1
	if f.Flags&encrypted != 0 {
		return nil, fmt.Errorf("%w: it is encrypted", formats.ErrSchema)
	}
	at, err := f.DataOffset()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	size, packed, total := f.UncompressedSize64, f.CompressedSize64, uint64(len(a.file.Data))
	if at < 0 || uint64(at) > total || packed > total-uint64(at) {
		return nil, fmt.Errorf("%w: the archive ends before it", formats.ErrDamaged)
	}
	switch {
	case f.Method == zip.Store && size == packed:
		return a.file.Data[at : uint64(at)+size], nil
	case f.Method == zip.Store:
		return nil, fmt.Errorf("%w: its two sizes differ: %d and %d bytes", formats.ErrDamaged, packed, size)
	case f.Method != zip.Deflate:
		return nil, fmt.Errorf("%w: it is compressed by method %d; savez and savez_compressed use 0 and 8", formats.ErrSchema, f.Method)
	case size > packed*maxRatio:
		return nil, fmt.Errorf("%w: it claims %d bytes, which %d compressed ones cannot contain", formats.ErrDamaged, size, packed)
	case size > uint64(a.left):
		return nil, fmt.Errorf("%w: it has %d bytes: compressed arrays of a dataset may have %d; save it with numpy.savez, uncompressed", formats.ErrSchema, size, maxUnpacked)
	}
	a.left -= int64(size)
	return inflate(f, int(size))
}

// inflate decompresses a member and compares it with its size and checksum.
func inflate(f *zip.File, size int) (b []byte, err error) {
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", formats.ErrDamaged, err)
	}
	defer r.Close()
	b = make([]byte, size)
	if _, err := io.ReadFull(r, b); err != nil {
		return nil, fmt.Errorf("%w: it cannot be decompressed: %w", formats.ErrDamaged, err)
	}
	if _, err := io.ReadFull(r, make([]byte, 1)); !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("%w: it has more bytes than the archive says, or a wrong checksum", formats.ErrDamaged), err)
	}
	return b, nil
}
