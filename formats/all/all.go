// Package all is the explicit list of dsconv's formats.
package all

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
)

// Formats lists all formats. The folder comes last: it matches any directory that no other
// format matches by its name.
func Formats() formats.Registry {
	return formats.Registry{lmdb.Format{}, hdf5.Format{}, shard.Format{}, tfrecord.Format{}, folder.Format{}}
}
