package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/npy"
)

// write writes a file in the folder. An existing file is completed if an interrupted unpack left it;
// any other existing file is an error.
func (u *unpacker) write(name string, data []byte, modTime int64) error {
	name = filepath.FromSlash(name)
	if err := u.root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := u.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		f, err = u.reopen(name, data)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteAt(data, 0)
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	if modTime != 0 {
		t := time.Unix(0, modTime)
		return u.root.Chtimes(name, t, t)
	}
	return nil
}

// reopen opens a file that an interrupted unpack left.
func (u *unpacker) reopen(name string, data []byte) (*os.File, error) {
	if st, err := u.root.Lstat(name); err != nil || !st.Mode().IsRegular() || st.Size() > int64(len(data)) {
		return nil, errors.Join(foreignFileError(u.dir, name), err)
	}
	f, err := u.root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	was, err := io.ReadAll(f)
	if err == nil && !isUnfinishedCopy(was, data) {
		err = foreignFileError(u.dir, name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func foreignFileError(dir, name string) error {
	return fmt.Errorf("%s: %w: its content is not the dataset's; move it away", filepath.Join(dir, name), formats.ErrForeign)
}

// isUnfinishedCopy reports whether was is an incomplete copy of data: a prefix of it, perhaps followed
// by zeros, which a power cut leaves for bytes that were not on the disk yet.
func isUnfinishedCopy(was, data []byte) bool {
	for i := range was {
		if was[i] != data[i] {
			return len(bytes.Trim(was[i:], "\x00")) == 0
		}
	}
	return true
}

// fieldFileName returns the name of the file of a field that is neither the main image nor a label.
func (p *unpackPlan) fieldFileName(at int, f *formats.Field, enc formats.Encoding) string {
	ext := ".bin"
	switch f.Kind {
	case formats.Image, formats.Mask:
		ext = fileEncoding(enc).Extension()
	case formats.Text:
		ext = ".txt"
	case formats.JSON:
		ext = ".json"
	case formats.Boxes, formats.Array:
		ext = ".npy"
	}
	return p.bases[at] + "." + f.Name + ext
}

// fieldFileData returns the content of that file.
func fieldFileData(f *formats.Field, v *formats.Value, coder *pngCoder) ([]byte, error) {
	switch f.Kind {
	case formats.Image, formats.Mask:
		if err := coder.toPNG(v); err != nil {
			return nil, err
		}
	case formats.Boxes, formats.Array:
		return append(npy.AppendHeader(nil, v.DType, v.Shape), v.Data...), nil
	}
	return v.Data, nil
}

// fileEncoding returns the encoding of the file that an image of encoding e is written to.
func fileEncoding(e formats.Encoding) formats.Encoding {
	if e.IsRaw() {
		return formats.PNG
	}
	return e
}
