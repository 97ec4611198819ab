package manifest

import (
	"bytes"
	"fmt"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
)

func removedSchema() *parquet.Schema {
	text := parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)
	return parquet.NewSchema("removed", parquet.Group{
		"key": text, "source_path": text,
		"source_size": parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked),
		"source_hash": parquet.Leaf(parquet.FixedLenByteArrayType(16)),
	})
}

// EncodeRemoved returns the file that lists the samples removed by hand, nil if there are none.
func EncodeRemoved(removed []formats.RemovedSample) ([]byte, error) {
	if len(removed) == 0 {
		return nil, nil
	}
	var b bytes.Buffer
	err := writeParquet(&b, removedSchema(), len(removed), func(i int, row parquet.Row) (text int) {
		r := &removed[i]
		// The columns are in the order of their names.
		row[0] = parquet.ByteArrayValue([]byte(r.Key)).Level(0, 0, 0)
		row[1] = parquet.FixedLenByteArrayValue(r.Source.Hash[:]).Level(0, 0, 1)
		row[2] = parquet.ByteArrayValue([]byte(r.Source.Path)).Level(0, 0, 2)
		row[3] = parquet.Int64Value(r.Source.Size).Level(0, 0, 3)
		return len(r.Key) + len(r.Source.Path)
	})
	if err != nil {
		return nil, fmt.Errorf("write the list of removed samples: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeRemoved parses the list that read returns. It calls read only if m says that there is a
// list. As in readManifest, the file may be malicious.
func DecodeRemoved(m *formats.Meta, read func() ([]byte, error)) ([]formats.RemovedSample, error) {
	if m.History == nil || m.History.Removed == 0 {
		return nil, nil
	}
	b, err := read()
	if err != nil {
		return nil, err
	}
	var list []formats.RemovedSample
	err = guard.Do(func() (err error) {
		list, err = decodeRemoved(b, m.History.Removed)
		return err
	})
	return list, err
}

// decodeRemoved reads a list of n samples.
func decodeRemoved(b []byte, n int) ([]formats.RemovedSample, error) {
	var keys, paths stringColumn
	var sizes []int64
	var hashes [][16]byte
	reads := []columnRead{
		{"key", true, func(r *manifestReader, chunks []chunk) error { return r.keys(chunks, &keys) }},
		{"source_path", true, func(r *manifestReader, chunks []chunk) error { return r.text(chunks, &paths) }},
		{"source_size", false, func(r *manifestReader, chunks []chunk) error { return readInts(r, chunks, &sizes) }},
		{"source_hash", false, func(r *manifestReader, chunks []chunk) error { return r.hashes(chunks, &hashes) }},
	}
	const what = "the list of removed samples"
	f, err := parseFooter(b, []string{reads[0].name, reads[1].name, reads[2].name, reads[3].name})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", what, formats.ErrDamaged, err)
	}
	r := manifestReader{footer: f, size: len(b), what: what}
	if err := r.checkText(reads[1:]); err != nil {
		return nil, err
	}
	for _, c := range reads {
		if err := r.column(c.name, func(chunks []chunk) error { return c.read(&r, chunks) }); err != nil {
			return nil, err
		}
	}
	if len(keys.end) != n {
		return nil, fmt.Errorf("read %s: %w: it has %d rows, %s says %d", what, formats.ErrDamaged, len(keys.end), MetaName, n)
	}
	list := make([]formats.RemovedSample, len(keys.end))
	for i := range list {
		list[i] = formats.RemovedSample{Key: keys.at(i), Source: formats.Source{Path: paths.at(i), Size: sizes[i], Hash: hashes[i]}}
	}
	return list, nil
}
