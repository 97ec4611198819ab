package shards

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// unit is the content of a shard's unitName.
type unit struct {
	Plan   string               `json:"plan"` // its ID
	Shard  int                  `json:"shard"`
	Bytes  int64                `json:"bytes"` // of the data file
	Report *convert.ShardReport `json:"report"`
}

// suffixOf returns the suffix of a dataset's files: the one by which their format is known.
func suffixOf(path string) string {
	ext := filepath.Ext(path)
	if strings.EqualFold(ext, ".zst") {
		ext = filepath.Ext(strings.TrimSuffix(path, ext)) + ext
	}
	return ext
}

// dataFile returns the name of the data file of each shard of d.
func (d *Dataset) dataFile() string { return "shard" + suffixOf(d.Path) }

// errMissing is the error of read for a shard that is not there.
var errMissing = errors.New("it is missing")

// read returns what the folder of shard i has, if it is complete: errMissing if it is not there, errOtherPlan, or
// formats.ErrDamaged.
func (w *work) read(i int, d *Dataset) (*unit, error) {
	dir := w.shard(i)
	b, err := unblocked.ReadFile(filepath.Join(dir, unitName))
	switch {
	case durable.IsMissing(err) && !durable.Exists(dir):
		return nil, errMissing
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: it has no %s", dir, formats.ErrDamaged, unitName)
	case err != nil:
		return nil, err
	}
	u := &unit{}
	if err := json.Unmarshal(b, u); err != nil || u.Report == nil {
		return nil, fmt.Errorf("%s: %w: its %s cannot be read", dir, formats.ErrDamaged, unitName)
	}
	if u.Plan != w.id {
		return nil, fmt.Errorf("%s: %w", dir, errOtherPlan)
	}
	st, err := os.Stat(filepath.Join(dir, d.dataFile()))
	switch {
	case durable.IsMissing(err):
		return nil, fmt.Errorf("%s: %w: its data file is missing", dir, formats.ErrDamaged)
	case err != nil:
		return nil, err
	case st.Size() != u.Bytes:
		return nil, fmt.Errorf("%s: %w: its data file has %d bytes, and had %d", dir, formats.ErrDamaged, st.Size(), u.Bytes)
	}
	return u, nil
}

// setAside makes a shard that is packed again an attempt, which Commit removes.
func (w *work) setAside(i int) error {
	err := os.Rename(w.shard(i), w.newAttempt(i))
	if durable.IsMissing(err) {
		return nil
	}
	return err
}
