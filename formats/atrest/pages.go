package atrest

import (
	"errors"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding"
)

var errPage = errors.New("a page of an unexpected type")

func (c *stringColumn) appendPage(data encoding.Values) error {
	if data.Kind() != encoding.ByteArray {
		return errPage
	}
	values, offsets := data.ByteArray()
	if len(offsets) == 0 {
		return nil
	}
	base := uint64(len(c.data)) - uint64(offsets[0])
	c.data = append(c.data, values[offsets[0]:offsets[len(offsets)-1]]...)
	for _, end := range offsets[1:] {
		c.end = append(c.end, base+uint64(end))
	}
	return nil
}

func (c *wordColumn) appendPage(p parquet.Page) error {
	dict := p.Dictionary()
	if dict == nil {
		return errPage
	}
	// Words of the page's dictionary may be known already from an earlier row group.
	known := make([]uint16, dict.Len())
	for i := range known {
		c.append(string(dict.Index(int32(i)).ByteArray()))
		known[i] = c.index[len(c.index)-1]
		c.index = c.index[:len(c.index)-1]
	}
	data := p.Data()
	for _, i := range data.Int32() {
		if int(i) >= len(known) || i < 0 {
			return errPage
		}
		c.index = append(c.index, known[i])
	}
	return nil
}

func appendHashes(to *[][16]byte, data encoding.Values) error {
	if data.Kind() != encoding.FixedLenByteArray {
		return errPage
	}
	values, size := data.FixedLenByteArray()
	if size != 16 {
		return errPage
	}
	for ; len(values) >= 16; values = values[16:] {
		*to = append(*to, [16]byte(values))
	}
	return nil
}
