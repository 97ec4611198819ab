package manifest

import (
	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Row is a row of the manifest: that of the index without Fields.
type Row = sampleindex.Row

// column is a column of a Parquet file, and where its value of the present row is: it is written
// from there and read into it.
type column struct {
	name  string
	value any  // *int64, *[16]byte, *string; 32 bits in the file: *int, *uint16
	word  bool // a string of which there are few
}

// userPrefix begins the names of the user's columns, so that one may be called "label".
const userPrefix = "user."

// rowColumns returns the columns of r, which gets user columns of those names. rank and
// provenanceColumns are not among them.
func rowColumns(r *Row, columns []string) []column {
	all := []column{
		{name: "key", value: &r.Key},
		{name: "label", value: &r.Label},
		{name: "size", value: &r.Size},
		{name: "split", value: &r.Split, word: true},
		{name: "encoding", value: (*string)(&r.Encoding), word: true},
		{name: "shard", value: &r.Location.Shard},
		{name: "offset", value: &r.Location.Offset},
		{name: "length", value: &r.Location.Length},
		{name: "height", value: &r.Shape[0]},
		{name: "width", value: &r.Shape[1]},
		{name: "channels", value: &r.Shape[2]},
		{name: "checksum", value: &r.Checksum},
		{name: "source_path", value: &r.Source.Path},
		{name: "source_size", value: &r.Source.Size},
		{name: "source_mtime_ns", value: &r.Source.ModTime},
		{name: "source_hash", value: &r.Source.Hash},
	}
	r.Columns = make([]string, len(columns))
	for i, name := range columns {
		all = append(all, column{name: userPrefix + name, value: &r.Columns[i]})
	}
	return all
}

// provenanceColumns returns the columns of r that most files do not have.
func provenanceColumns(r *Row) []column {
	return []column{{name: "edited", value: &r.Provenance.Edited}, {name: "origin", value: &r.Provenance.Origin}}
}

// node describes the column in a schema.
func (c *column) node() parquet.Node {
	switch c.value.(type) {
	case *[16]byte:
		return parquet.Leaf(parquet.FixedLenByteArrayType(16))
	case *string:
		if c.word {
			return parquet.Encoded(parquet.String(), &parquet.RLEDictionary)
		}
		return parquet.Encoded(parquet.String(), &parquet.DeltaLengthByteArray)
	case *int64:
		return parquet.Encoded(parquet.Int(64), &parquet.DeltaBinaryPacked)
	}
	return parquet.Encoded(parquet.Int(32), &parquet.DeltaBinaryPacked)
}
