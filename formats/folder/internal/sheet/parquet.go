package sheet

import (
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// ReadParquet is ParseParquet for a file on the disk.
func ReadParquet(file string) (*Sheet, error) {
	f, err := unblocked.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return ParseParquet(f, st.Size())
}

// ParseParquet reads the columns of a Parquet file that have one value in each row. The library may panic on
// damaged files, which is an error here.
func ParseParquet(f io.ReaderAt, size int64) (s *Sheet, err error) {
	err = guard.For("the Parquet file", func() error {
		p, err := parquet.OpenFile(f, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true))
		if err != nil {
			return err
		}
		s, err = parquetRows(p)
		return err
	})
	return s, err
}

func parquetRows(p *parquet.File) (*Sheet, error) {
	s := &Sheet{}
	columns := map[int]int{} // of the sheet, by the file's
	for i, path := range p.Schema().Columns() {
		leaf, ok := p.Schema().Lookup(path...)
		if !ok || len(path) != 1 || leaf.MaxRepetitionLevel > 0 {
			continue
		}
		columns[i] = len(s.Header)
		s.Header = append(s.Header, path[0])
	}
	if err := CheckColumnCount(len(s.Header)); err != nil {
		return nil, err
	}
	if len(s.Header) == 0 {
		return nil, errors.New("it has no column with one value in each row")
	}
	for _, group := range p.RowGroups() {
		if err := s.addRows(group, columns); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// addRows adds the rows of a group.
func (s *Sheet) addRows(group parquet.RowGroup, columns map[int]int) (err error) {
	rows := group.Rows()
	defer func() { err = errors.Join(err, rows.Close()) }()
	buf := make([]parquet.Row, 256)
	for {
		n, err := rows.ReadRows(buf)
		for _, values := range buf[:n] {
			row := make([]string, len(s.Header))
			for _, v := range values {
				if k, ok := columns[v.Column()]; ok && !v.IsNull() {
					row[k] = parquetCell(v)
				}
			}
			s.Rows, s.Lines = append(s.Rows, row), append(s.Lines, len(s.Rows)+1)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("row %d cannot be read", len(s.Rows)+1)
		}
	}
}

// parquetCell returns a value as a table's cell.
func parquetCell(v parquet.Value) string {
	if v.Kind() == parquet.ByteArray || v.Kind() == parquet.FixedLenByteArray {
		return string(v.ByteArray())
	}
	return v.String()
}
