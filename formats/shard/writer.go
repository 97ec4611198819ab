package shard

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// writer writes one dataset of shards.
type writer struct {
	*staging.Shards
	enc    encoder
	index  indexer
	zstd   *zstd.Encoder // nil if the shards are not compressed
	record []byte        // before compression
	frame  []byte
}

var (
	_ formats.Writer     = (*writer)(nil)
	_ formats.ShardEnder = (*writer)(nil)
	_ formats.FileReuser = (*writer)(nil)

	_ formats.ShardAdopter  = (*writer)(nil)
	_ formats.RemovalWriter = (*writer)(nil)
)

// Create starts a dataset. A path that ends in .tar.zst is compressed, at defaultZstd if o
// has no level; a level with another extension is an error.
func (f Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	m.Format = f.Name()
	w, end, err := newWriter(path, &m, o)
	if err != nil {
		return nil, err
	}
	if w.Shards, err = staging.CreateShards(path, m, o, end); err != nil {
		return nil, err
	}
	w.index.shards = w.Shards
	return w, nil
}

// Resume continues a dataset. o must have the level that Create was given.
func (f Format) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	w, end, err := newWriter(path, nil, o)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	if w.Shards, err = staging.ResumeShards(path, o, end); err != nil {
		return nil, formats.Meta{}, nil, err
	}
	st := w.Stage()
	w.index.shards = w.Shards
	if err := w.enc.init(&st.Meta); err != nil {
		_ = w.Close()
		return nil, formats.Meta{}, nil, fmt.Errorf("resume %s: %w", path, err)
	}
	return w, st.Meta, st.Note, nil
}

// newWriter prepares a Writer; m is nil if it is not known yet.
func newWriter(path string, m *formats.Meta, o formats.CreateOptions) (w *writer, end []byte, err error) {
	w = &writer{}
	if m != nil {
		if err := w.enc.init(m); err != nil {
			return nil, nil, err
		}
	}
	level, err := levelOf(path, o)
	if err != nil || level == 0 {
		return w, zeros[:], err
	}
	// One goroutine, so that equal samples produce equal frames.
	w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(level)))
	if err != nil {
		return nil, nil, err
	}
	w.index.disabled = true
	return w, w.zstd.EncodeAll(zeros[:], nil), nil
}

func (e *encoder) init(m *formats.Meta) (err error) {
	if err := m.Schema.Validate(); err != nil {
		return err
	}
	e.columns = m.Columns
	e.slots, err = layoutOf(m)
	return err
}

// Write adds s as one record. Its bytes are copied once, into the file's current block.
func (w *writer) Write(s *formats.Sample) error {
	st := w.Stage()
	if err := st.CheckSample(s, false); err != nil {
		return err
	}
	parts, err := w.enc.encode(s)
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	if w.zstd != nil {
		w.record = w.record[:0]
		for _, p := range parts {
			w.record = append(w.record, p...)
		}
		w.frame = w.zstd.EncodeAll(w.record, w.frame[:0])
		w.enc.parts = append(w.enc.parts[:0], w.frame)
		parts = w.enc.parts
	}
	location, err := w.Append(parts...)
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	return st.Add(s, location)
}

// EndShard ends the current shard and builds its index.
func (w *writer) EndShard() error {
	if err := w.Shards.EndShard(); err != nil {
		return err
	}
	return w.index.endShard(w.Files())
}

// Commit ends the last shard, writes the sidecar and publishes all.
func (w *writer) Commit() error { return w.Shards.Commit(w.index.publish) }

// AdoptShard implements formats.ShardAdopter.
func (w *writer) AdoptShard(path string) error {
	a, err := w.AdoptFile(path)
	if err != nil {
		return err
	}
	return errors.Join(w.index.adopt(a), a.Close())
}
