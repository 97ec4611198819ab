package tfrecord

import (
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Format is the format "tfrecord". The zero value is ready.
type Format struct{}

var _ formats.WritableFormat = Format{}

// Name is "tfrecord".
func (Format) Name() string { return "tfrecord" }

// Match takes "x.tfrecord", "x.tfrecords" and patterns of them, "x-%05d.tfrecord",
// "x-{00000..00127}.tfrecord".
func (Format) Match(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".tfrecord") || strings.HasSuffix(base, ".tfrecords")
}

// Traits are those of a format whose readers go through the file in order.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true} }
