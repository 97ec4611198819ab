package mds

import (
	"compress/bzip2"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
)

// maxWindow is the largest window of zstd: its memory.
const maxWindow = 128 << 20

// unpackers decompress what the library compressed as a whole, by the name in index.json.
var unpackers = map[string]func(io.Reader) (io.ReadCloser, error){
	"gz":  func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	"bz2": func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil },
	"zstd": func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	},
}

// file returns the data file of a shard: the plain one if it is there, else the one that is compressed as a whole.
func (s *shard) file(dir string) (foreign.File, error) {
	f := foreign.File{Path: filepath.Join(dir, filepath.FromSlash(s.Raw.Name)), Name: s.Raw.Name}
	if s.Compression == "" {
		return f, nil
	}
	if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	method, _, _ := strings.Cut(s.Compression, ":") // "zstd:7"
	unpack := unpackers[method]
	switch {
	case !s.Zip.isInside():
		return f, fmt.Errorf("%w: the name of its compressed file leads out of the folder, or it has none", formats.ErrDamaged)
	case unpack == nil:
		return f, fmt.Errorf("%s: %w: it is compressed by %q, and dsconv reads zstd, gz and bz2: let the streaming library decompress it (keep_zip), or write it again",
			filepath.Join(dir, s.Zip.Name), formats.ErrNotDataset, s.Compression)
	}
	return foreign.File{Path: filepath.Join(dir, filepath.FromSlash(s.Zip.Name)), Name: s.Zip.Name, Unpack: unpack, Size: s.Raw.Bytes}, nil
}
