package foreign

import (
	"encoding/hex"
	"encoding/json"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// cacheVersion is that of the description in the cache and of the rules by which rows are made.
const cacheVersion = 2

// described is what is known of a dataset besides its index: the JSON file beside it in the cache. The two are
// made from the same files by the same rules, so any description fits any index of the same ID.
type described struct {
	Meta   formats.Meta  `json:"meta"`
	Fields []FieldSource `json:"fields"`
	Skips  []skip        `json:"skips,omitempty"`
	// Notices are those of the Layout.
	Notices []string `json:"notices,omitempty"`
}

// cached is the file: its checksum is that of the bytes of Described.
type cached struct {
	ID        string          `json:"id"`
	Checksum  uint64          `json:"checksum"`
	Described json.RawMessage `json:"described"`
}

// readDescription returns what the cache has, nil if it has nothing that is whole.
func readDescription(id sampleindex.ID) *described {
	path := indexfile.DescriptionPath(id)
	text, err := unblocked.ReadFile(path)
	if err != nil {
		return nil
	}
	indexfile.MarkUsed(path)
	var c cached
	var d described
	if json.Unmarshal(text, &c) != nil || c.ID != hex.EncodeToString(id[:]) || c.Checksum != xxh3.Hash(c.Described) {
		return nil
	}
	if json.Unmarshal(c.Described, &d) != nil || d.Meta.Schema.Validate() != nil || len(d.Fields) != len(d.Meta.Schema) {
		return nil
	}
	return &d
}

// keep writes the description to the cache. Without it the next one scans again, so a failure is no error.
func (d *described) keep(id sampleindex.ID) {
	path := indexfile.DescriptionPath(id)
	if path == "" {
		return
	}
	body, err := json.Marshal(d)
	if err != nil || indexfile.MakeFolder(path) != nil {
		return
	}
	text, err := json.Marshal(cached{ID: hex.EncodeToString(id[:]), Checksum: xxh3.Hash(body), Described: body})
	if err == nil {
		_ = durable.WriteFile(path, text)
	}
}
