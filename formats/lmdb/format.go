package lmdb

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/manifest"
)

// Format is LMDB; see the package's documentation.
type Format struct{}

var (
	_ formats.WritableFormat = Format{}
	_ formats.Describer      = Format{}
)

// Name implements formats.Format.
func (Format) Name() string { return "lmdb" }

// Match implements formats.Format: it matches a path that ends in .lmdb, in any case, and a folder with a data.mdb.
func (Format) Match(path string) bool {
	if strings.EqualFold(filepath.Ext(filepath.Clean(path)), ".lmdb") {
		return true
	}
	_, err := os.Stat(filepath.Join(path, dataName))
	return err == nil
}

// Describes implements formats.Describer.
func (Format) Describes(path string) bool {
	return durable.Exists(filepath.Join(path, manifest.MetaName))
}

// Traits implements formats.WritableFormat: samples come in key order.
func (Format) Traits() formats.Traits { return formats.Traits{Ordered: true, LabelsInManifest: true} }

const (
	dataName   = "data.mdb"
	lockName   = "lock.mdb"
	fieldsName = "fields"
)

// extraFields returns the positions in the schema of the fields that are stored in fields/.
func extraFields(schema formats.Schema) []int {
	var extra []int
	for i, f := range schema {
		if i != schema.ImageIndex() && (i != schema.LabelIndex() || f.Kind != formats.Label) {
			extra = append(extra, i)
		}
	}
	return extra
}

// fieldNames returns the names of the fields at those positions.
func fieldNames(schema formats.Schema, positions []int) []string {
	var names []string
	for _, i := range positions {
		names = append(names, schema[i].Name)
	}
	return names
}
