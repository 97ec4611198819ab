package atrest

import (
	"bytes"
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// Catalog is what an open dataset knows without its data: dataset.json and the manifest,
// whose rows are in rank order. Formats embed it for three methods of formats.Dataset. It
// is safe for concurrent use.
type Catalog struct {
	Table *Table
	meta  *formats.Meta
}

// NewCatalog reads the manifest of the dataset that m describes.
func NewCatalog(m *formats.Meta, manifest []byte) (Catalog, error) {
	t, err := ReadManifest(bytes.NewReader(manifest), int64(len(manifest)), m.Columns)
	if err != nil {
		return Catalog{}, err
	}
	if t.Len() != m.Count {
		return Catalog{}, fmt.Errorf("%w: %d rows for %d samples", formats.ErrDamaged, t.Len(), m.Count)
	}
	return Catalog{Table: t, meta: m}, nil
}

// Meta implements formats.Dataset.
func (c Catalog) Meta() *formats.Meta { return c.meta }

// Len implements formats.Dataset.
func (c Catalog) Len() int { return c.Table.Len() }

// Info implements formats.Dataset.
func (c Catalog) Info(i int) (formats.Info, error) { return c.Table.Info(i) }
