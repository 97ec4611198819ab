package sheet

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/storage/parquetfile"
)

// ReadParquet is ParseParquet for a file on the disk.
func ReadParquet(file string) (*Sheet, error) {
	f, err := parquetfile.Open(file)
	if err != nil {
		return nil, err
	}
	s, err := parquetSheet(f)
	return s, errors.Join(err, f.Close())
}

// ParseParquet reads the columns of the Parquet file b that have one value in each row. Errors name the file.
func ParseParquet(name string, b []byte) (*Sheet, error) {
	f, err := parquetfile.Parse(name, b, parquetfile.Limits{})
	if err != nil {
		return nil, err
	}
	return parquetSheet(f)
}

const (
	// freeCells bytes of cells are read of any Parquet file; a larger one may have maxCellRatio for each of its bytes. Runs of
	// equal values take no bytes in the file, but a table's rows differ.
	freeCells    = 256 << 20
	maxCellRatio = 64
	cellBytes    = 16 // of a string, besides its text
)

func parquetSheet(f *parquetfile.File) (*Sheet, error) {
	s := &Sheet{}
	var columns []int // of the file
	for i := range f.Columns() {
		if c := &f.Columns()[i]; len(c.Path) == 1 && c.IsRead() {
			columns, s.Header = append(columns, i), append(s.Header, c.Path[0])
		} else if len(c.Path) == 1 && !c.IsList() {
			s.notes = append(s.notes, fmt.Sprintf("the column %q is left out: its type is not read", c.Name()))
		}
	}
	if err := CheckColumnCount(len(s.Header)); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	if len(s.Header) == 0 {
		return nil, fmt.Errorf("%s: it has no column with one value in each row", f.Path)
	}
	left := max(freeCells, maxCellRatio*f.Size())
	take := func(n int) error {
		if left -= n; left < 0 {
			return fmt.Errorf("%s: its %d bytes have more cells than any table of labels: %d rows of %d columns", f.Path, f.Size(), f.Rows(), len(columns))
		}
		return nil
	}
	if err := take(f.Rows() * (len(columns)*cellBytes + 2*cellBytes)); err != nil {
		return nil, err
	}
	for i := range f.Rows() {
		s.Rows, s.Lines = append(s.Rows, make([]string, len(columns))), append(s.Lines, i+1)
	}
	for k, column := range columns {
		err := f.Each(column, func(row int, v *parquetfile.Values, i int) error {
			text, _ := v.Text(&f.Columns()[column], i)
			s.Rows[row][k] = text
			return take(len(text))
		})
		if err != nil {
			return nil, err
		}
	}
	return s, nil
}
