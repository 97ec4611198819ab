package shard

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Format is the format "shard". The zero value is ready for use.
type Format struct{}

var (
	_ formats.WritableFormat = Format{}
	_ formats.Describer      = Format{}
)

// defaultZstd is the compression level of "x.tar.zst" if CreateOptions has none.
const defaultZstd = 3

const (
	plainSuffix      = ".tar"
	compressedSuffix = ".tar.zst"
)

// Name is "shard".
func (Format) Name() string { return "shard" }

// Aliases implements formats.Aliased.
func (Format) Aliases() []string { return []string{"tar", "webdataset"} }

// Match matches "x.tar", "x.tar.zst" and patterns such as "x-%06d.tar", "x-{000000..000127}.tar". The
// case of the extension does not matter.
func (Format) Match(path string) bool {
	return isPlain(path) || isCompressed(path)
}

// isPlain and isCompressed judge a shard by its name, in any case.
func isPlain(path string) bool { return strings.EqualFold(filepath.Ext(path), plainSuffix) }

func isCompressed(path string) bool {
	return strings.HasSuffix(strings.ToLower(path), compressedSuffix)
}

// Describes implements formats.Describer.
func (f Format) Describes(path string) bool { return f.Match(path) && sharded.HasSidecar(path) }

// Traits implements formats.WritableFormat.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true, Zstd: true} }

// levelOf returns the compression level of a dataset at path, 0 if it is not compressed.
func levelOf(path string, o formats.CreateOptions) (int, error) {
	compressed := isCompressed(path)
	switch {
	case !compressed && !isPlain(path):
		return 0, fmt.Errorf("%s: the names of shards must end in .tar or .tar.zst", path)
	case o.Zstd < 0 || o.Zstd > 22:
		return 0, fmt.Errorf("%s: the zstd level is %d; choose one from 1 to 22", path, o.Zstd)
	case !compressed && o.Zstd > 0:
		return 0, fmt.Errorf("%s: the names of compressed shards must end in .tar.zst; give %s.zst", path, path)
	case compressed && o.Zstd == 0:
		return defaultZstd, nil
	}
	return o.Zstd, nil
}
