package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
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

const removedWhat = "the list of removed samples"

// removedColumns returns the columns of the list of removed samples.
func removedColumns(r *formats.RemovedSample) []column {
	return []column{
		{name: "key", value: &r.Key},
		{name: "source_path", value: &r.Source.Path},
		{name: "source_size", value: &r.Source.Size},
		{name: "source_hash", value: &r.Source.Hash},
	}
}

// EncodeRemoved returns the file that lists the samples removed by hand, nil if there are none.
func EncodeRemoved(removed []formats.RemovedSample) ([]byte, error) {
	if len(removed) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	var r formats.RemovedSample
	t := newTableWriter(&b, "removed", removedColumns(&r))
	for _, r = range removed {
		if err := t.append(); err != nil {
			return nil, fmt.Errorf("write %s: %w", removedWhat, err)
		}
	}
	if err := t.close(); err != nil {
		return nil, fmt.Errorf("write %s: %w", removedWhat, err)
	}
	return b.Bytes(), nil
}

// DecodeRemoved parses the list that read returns. It calls read only if m says that there is a
// list. As in Read, the file may be malicious.
func DecodeRemoved(m *formats.Meta, read func() ([]byte, error)) ([]formats.RemovedSample, error) {
	if m.History == nil || m.History.Removed == 0 {
		return nil, nil
	}
	b, err := read()
	if err != nil {
		return nil, err
	}
	var list []formats.RemovedSample
	err = guard.Do(func() error {
		var r formats.RemovedSample
		t := tableReader{what: removedWhat, columns: removedColumns(&r)}
		return t.read(b, &r.Key, func() error {
			added := r
			added.Key, added.Source.Path = strings.Clone(r.Key), strings.Clone(r.Source.Path)
			list = append(list, added)
			return nil
		})
	})
	if err != nil {
		return nil, err
	}
	if len(list) != m.History.Removed {
		return nil, fmt.Errorf("read %s: %w: it has %d rows, %s says %d", removedWhat, formats.ErrDamaged, len(list), MetaName, m.History.Removed)
	}
	return list, nil
}
