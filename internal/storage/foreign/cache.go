package foreign

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/mapped"
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

// id identifies the samples of the files in their states, as s reads them.
func (s *Source) id(states []filestate.State) sampleindex.ID {
	parts := [][]byte{[]byte("foreign"), fmt.Append(nil, cacheVersion, " ", s.Format, " ", s.Version), fmt.Append(nil, s.Options.Recipe()), s.Extra}
	for k, f := range s.Files {
		parts = append(parts, []byte(f.Name), fmt.Append(nil, states[k].Identity()))
	}
	return sampleindex.NewID(parts...)
}

// openFiles maps the files. They are in those states now.
func (s *Source) openFiles() (files []*mapped.Mapping, states []filestate.State, err error) {
	for _, f := range s.Files {
		was, err := filestate.Of(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		m, err := mapped.Map(f.Path)
		if err != nil {
			return nil, nil, errors.Join(err, closeFiles(files))
		}
		files, states = append(files, m), append(states, was)
		if now, err := filestate.Of(f.Path); err != nil || now != was || int64(len(m.Data)) != was.Size() {
			return nil, nil, errors.Join(changed(f.Path), err, closeFiles(files))
		}
	}
	return files, states, nil
}

func closeFiles(files []*mapped.Mapping) (err error) {
	for _, m := range files {
		err = errors.Join(err, m.Close())
	}
	return err
}

func changed(path string) error {
	return fmt.Errorf("%s: %w", path, formats.ErrChanged)
}

// checkAll returns an error if a file is not in the state it was in.
func (s *Source) checkAll(states []filestate.State) error {
	for k, f := range s.Files {
		if now, err := filestate.Of(f.Path); err != nil || now != states[k] {
			return errors.Join(changed(f.Path), err)
		}
	}
	return nil
}

// tick is longer than what a file system's clock takes from one time to the next.
const tick = 20 * time.Millisecond

// settle waits until a file that is written to from now on has another time.
func settle(ctx context.Context, states []filestate.State) error {
	newest := int64(0)
	for _, s := range states {
		newest = max(newest, s.Identity().ModTime)
	}
	age := time.Since(time.Unix(0, newest))
	if age < 0 || age >= tick {
		return nil
	}
	t := time.NewTimer(tick - age)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
