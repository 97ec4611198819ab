package tfrecord

import (
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Format is the format "tfrecord". The zero value is ready for use.
type Format struct{}

var (
	_ formats.WritableFormat = Format{}
	_ formats.Describer      = Format{}
)

// Name is "tfrecord".
func (Format) Name() string { return "tfrecord" }

// Aliases implements formats.Aliased.
func (Format) Aliases() []string { return []string{"tfrecords"} }

// Match matches "x.tfrecord", "x.tfrecords" and patterns such as "x-%05d.tfrecord",
// "x-{00000..00127}.tfrecord". The case of the
// extension does not matter.
func (Format) Match(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".tfrecord", ".tfrecords":
		return true
	}
	return false
}

// Describes implements formats.Describer.
func (f Format) Describes(path string) bool { return f.Match(path) && sharded.HasSidecar(path) }

// Traits implements formats.WritableFormat.
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true, ClassNames: true} }
