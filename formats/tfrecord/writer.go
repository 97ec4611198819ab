package tfrecord

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// writer writes one dataset of TFRecord files.
type writer struct {
	*staging.Shards
	enc encoder
}

var (
	_ formats.Writer     = (*writer)(nil)
	_ formats.ShardEnder = (*writer)(nil)
	_ formats.FileReuser = (*writer)(nil)

	_ formats.ShardAdopter  = (*writer)(nil)
	_ formats.RemovalWriter = (*writer)(nil)
)

// Create starts a dataset.
func (f Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	m.Format = f.Name()
	if err := checkOptions(path, o); err != nil {
		return nil, err
	}
	s, err := staging.CreateShards(path, m, o, nil)
	if err != nil {
		return nil, err
	}
	return &writer{Shards: s, enc: encoder{features: layoutOf(&m)}}, nil
}

// Resume continues a dataset.
func (f Format) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	if err := checkOptions(path, o); err != nil {
		return nil, formats.Meta{}, nil, err
	}
	s, err := staging.ResumeShards(path, o, nil)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	st := s.Stage()
	return &writer{Shards: s, enc: encoder{features: layoutOf(&st.Meta)}}, st.Meta, st.Note, nil
}

func checkOptions(path string, o formats.CreateOptions) error {
	switch {
	case !(Format{}).Match(path):
		return fmt.Errorf("%s: the names of TFRecord files must end in .tfrecord", path)
	case o.Zstd != 0:
		return fmt.Errorf("%s: TFRecord files cannot be compressed with zstd; leave the level out", path)
	}
	return nil
}

// Write adds s as one example. Its bytes are copied once, into the file's current block.
func (w *writer) Write(s *formats.Sample) error {
	st := w.Stage()
	if err := st.CheckSample(s, false); err != nil {
		return err
	}
	location, err := w.Append(w.enc.encode(s)...)
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	return st.Add(s, location)
}

// Commit ends the last file, writes the sidecar and publishes all.
func (w *writer) Commit() error { return w.Shards.Commit(w.writeIndexes) }

// writeIndexes writes the offsets and lengths of each file's records, in order, into dir.
func (w *writer) writeIndexes(dir string) (names []string, err error) {
	st := w.Stage()
	var b []byte
	end := func() error {
		file := st.Meta.Files[len(names)]
		name := strings.TrimSuffix(file, filepath.Ext(file)) + ".tfindex"
		err := durable.WriteFile(filepath.Join(dir, name), b)
		names, b = append(names, name), b[:0]
		return err
	}
	err = st.EachRow(func(r *sampleindex.Row) error {
		for len(names) < r.Location.Shard {
			if err := end(); err != nil {
				return err
			}
		}
		b = strconv.AppendInt(b, r.Location.Offset, 10)
		b = strconv.AppendInt(append(b, ' '), r.Location.Length, 10)
		b = append(b, '\n')
		return nil
	})
	for err == nil && len(names) < len(st.Meta.Files) {
		err = end()
	}
	return names, err
}

// AdoptShard implements formats.ShardAdopter.
func (w *writer) AdoptShard(path string) error {
	a, err := w.AdoptFile(path)
	if err != nil {
		return err
	}
	return a.Close()
}
