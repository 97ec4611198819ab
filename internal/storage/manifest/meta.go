package manifest

import (
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// MetaName is the name of the file with the Meta in the folder that describes a dataset.
const MetaName = "dataset.json"

// EncodeMeta returns the content of dataset.json.
func EncodeMeta(m *formats.Meta) ([]byte, error) {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode dataset.json: %w", err)
	}
	return append(b, '\n'), nil
}

// DecodeMeta reads dataset.json. ErrNewer if a later version wrote it.
func DecodeMeta(b []byte) (*formats.Meta, error) {
	m := new(formats.Meta)
	if err := json.Unmarshal(b, m); err != nil {
		return nil, fmt.Errorf("read dataset.json: %w: %w", formats.ErrDamaged, err)
	}
	if m.Version > formats.Version {
		return nil, fmt.Errorf("%w: it has version %d, this dsconv reads versions up to %d; install a newer one", formats.ErrNewer, m.Version, formats.Version)
	}
	if err := m.Schema.Validate(); err != nil {
		return nil, fmt.Errorf("read dataset.json: %w: %w", formats.ErrDamaged, err)
	}
	for _, name := range m.Files {
		// A replacement removes these files, so none may lie in another folder.
		if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
			return nil, fmt.Errorf("read dataset.json: %w: a data file cannot be named %q", formats.ErrDamaged, name)
		}
	}
	for _, s := range m.Splits {
		if err := sampleindex.CheckStoredSplit(s.Name); err != nil {
			return nil, fmt.Errorf("read dataset.json: %w", err)
		}
	}
	return m, nil
}
