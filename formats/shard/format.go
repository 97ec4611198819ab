package shard

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Format is the format "shard". The zero value is ready.
type Format struct{}

var _ formats.WritableFormat = Format{}

// DefaultZstd is the level of "x.tar.zst" where CreateOptions name none.
const DefaultZstd = 3

const (
	plainSuffix      = ".tar"
	compressedSuffix = ".tar.zst"
)

// Name is "shard".
func (Format) Name() string { return "shard" }

// Match takes "x.tar", "x.tar.zst" and patterns of them, "x-%06d.tar", "x-{000000..000127}.tar".
func (Format) Match(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, plainSuffix) || strings.HasSuffix(base, compressedSuffix)
}

// Traits are those of a format whose readers go through the file in order.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true, Zstd: true} }

// levelOf is the level at which a dataset at path is compressed, 0 for not.
func levelOf(path string, o formats.CreateOptions) (int, error) {
	compressed := strings.HasSuffix(path, compressedSuffix)
	switch {
	case !compressed && !strings.HasSuffix(path, plainSuffix):
		return 0, fmt.Errorf("%s: name shards .tar or .tar.zst", path)
	case o.Zstd < 0 || o.Zstd > 22:
		return 0, fmt.Errorf("%s: zstd has the levels 1 to 22, not %d", path, o.Zstd)
	case !compressed && o.Zstd > 0:
		return 0, fmt.Errorf("%s: compressed shards are named .tar.zst: %s.zst", path, path)
	case compressed && o.Zstd == 0:
		return DefaultZstd, nil
	}
	return o.Zstd, nil
}
