package hdf5

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// dsconv's own names in the file.
const (
	imagesName    = "images"
	bytesName     = "bytes"
	offsetsName   = "offsets"
	shapesName    = "shapes"
	encodingsName = "encodings"
	typesName     = "dtypes"
	labelsName    = "labels"
	keysName      = "keys"
	classesName   = "classes"
	dsconvGroup   = "dsconv"
	manifestName  = dsconvGroup + "/" + sidecar.ManifestName
	indexName     = dsconvGroup + "/" + indexfile.Name
	metaName      = dsconvGroup + "/dataset.json"
	removedName   = dsconvGroup + "/" + sidecar.RemovedName
)

// indexAlign is what the index's offset is a multiple of, so that its pages are pages of memory.
const indexAlign = 4096

// The codes of encodings and element types are the positions in these lists, which only grow.
var (
	encodingCodes = []formats.Encoding{
		formats.Plain, formats.Raw, formats.RawZstd, formats.JPEG, formats.PNG, formats.BMP, formats.GIF, formats.TIFF, formats.WebP,
	}
	typeCodes = []formats.DType{"", formats.Uint8, formats.Uint16, formats.Int64, formats.Float32}
)

// fieldNames maps the position of each extra field in the schema to its name in the file; a
// designated multi-hot label is "labels".
func fieldNames(schema formats.Schema) map[int]string {
	taken := map[string]bool{}
	for _, name := range []string{imagesName, bytesName, offsetsName, shapesName, labelsName, keysName, classesName, dsconvGroup} {
		taken[name] = true
	}
	names := map[int]string{}
	for i, f := range schema {
		switch {
		case i == schema.ImageIndex() || i == schema.LabelIndex() && f.Kind == formats.Label:
			continue
		case i == schema.LabelIndex():
			names[i] = labelsName
			continue
		}
		name := f.Name
		for taken[name] || name != f.Name && schema.Index(name) >= 0 {
			name += "_"
		}
		taken[name] = true
		names[i] = name
	}
	return names
}

// hasLabel reports whether the designated label is a class index, which the manifest has.
func hasLabel(schema formats.Schema) bool {
	i := schema.LabelIndex()
	return i >= 0 && schema[i].Kind == formats.Label
}
