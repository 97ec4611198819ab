package formattest_test

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// Format stores each sample as a line of JSON with its checksum: docs/own-format.md explains it.
type Format struct{}

func (Format) Name() string           { return "lines" }
func (Format) Match(path string) bool { return strings.HasSuffix(path, ".lines") }
func (Format) Traits() formats.Traits { return formats.Traits{Sharded: true} }

// writer turns samples into records; staging.Shards does the rest.
type writer struct{ *staging.Shards }

func (f Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	if err := f.check(path, o); err != nil {
		return nil, err
	}
	m.Format = f.Name()
	s, err := staging.CreateShards(path, m, o, nil)
	if err != nil {
		return nil, err
	}
	return &writer{s}, nil
}

func (f Format) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	if err := f.check(path, o); err != nil {
		return nil, formats.Meta{}, nil, err
	}
	s, err := staging.ResumeShards(path, o, nil)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	return &writer{s}, s.Stage().Meta, s.Stage().Note, nil
}

func (f Format) check(path string, o formats.CreateOptions) error {
	if !f.Match(path) || o.Zstd != 0 {
		return fmt.Errorf("%s: lines are written to files that end in .lines, and not compressed", filepath.Base(path))
	}
	return nil
}

func (w *writer) Write(s *formats.Sample) error {
	if err := w.Stage().CheckSample(s, false); err != nil {
		return err
	}
	line, err := json.Marshal(s.Values)
	if err != nil {
		return err
	}
	sum := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(line))
	location, err := w.Append(sum, line, []byte("\n"))
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	return w.Stage().Add(s, location)
}

func (w *writer) Commit() error {
	return w.Shards.Commit(func(string) ([]string, error) { return nil, nil }) // no index files for other readers
}

// dataset turns records into samples; sharded.Records does the rest.
type dataset struct{ *sharded.Records }

func (f Format) Open(path string) (formats.Dataset, error) {
	r, err := sharded.OpenRecords(path)
	if err != nil {
		return nil, err
	}
	if err := r.CheckFormat(f.Name()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &dataset{r}, nil
}

func (d *dataset) Read(i int, s *formats.Sample) error {
	return d.ReadRecord(i, func(e sampleindex.Entry, record []byte) error {
		return guard.Do(func() error {
			if err := e.Fill(s); err != nil {
				return err
			}
			if err := parse(record, s); err != nil {
				return err
			}
			return d.VerifyChecksum(s)
		})
	})
}

func parse(record []byte, s *formats.Sample) error {
	line := record[4 : len(record)-1]
	if crc32.ChecksumIEEE(line) != binary.LittleEndian.Uint32(record) {
		return formats.WrapDamaged(errors.New("the line's checksum is wrong"))
	}
	var values []formats.Value
	if err := json.Unmarshal(line, &values); err != nil {
		return formats.WrapDamaged(err)
	}
	s.Resize(len(values))
	for k := range values {
		s.Values[k].Set(values[k])
	}
	return nil
}

func TestConformance(t *testing.T) {
	for _, name := range []string{"x.lines", "x-%03d.lines"} {
		t.Run(name, func(t *testing.T) { formattest.Run(t, Format{}, name) })
	}
}

func BenchmarkFormat(b *testing.B) { formattest.Bench(b, Format{}, "x.lines") }
