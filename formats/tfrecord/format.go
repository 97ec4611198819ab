package tfrecord

import (
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// Format is the format "tfrecord". The zero value is ready for use.
type Format struct{}

var _ formats.WritableFormat = Format{}

// Name is "tfrecord".
func (Format) Name() string { return "tfrecord" }

// Match matches "x.tfrecord", "x.tfrecords" and patterns such as "x-%05d.tfrecord",
// "x-{00000..00127}.tfrecord".
func (Format) Match(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".tfrecord") || strings.HasSuffix(base, ".tfrecords")
}

// Traits implements formats.WritableFormat.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true} }
