package parquetfile

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/guard"
)

// Cursor reads a column from its first row on, one page at a time, in memory that it uses again. It is for one goroutine. If
// the file is mapped, the caller guards it.
type Cursor struct {
	Values        // of the present page
	file          *File
	column, group int       // group is the next one
	pages         *pageList // of the group before; data are those that are to come
	words         Values
}

// Cursor returns a Cursor before the first page.
func (f *File) Cursor(column int) *Cursor {
	return &Cursor{file: f, column: column, pages: &pageList{}}
}

// Next sets the Values to those of the next page, until the next call.
func (c *Cursor) Next() error {
	for loaded := false; !loaded; {
		var err error
		if loaded, err = c.load(); err != nil {
			return fmt.Errorf("%s: column %s of row group %d: %w", c.file.Path, c.file.footer.columns[c.column].Name(), c.group-1, err)
		}
	}
	return nil
}

// load decodes the next page, or the next row group's dictionary: then loaded is false.
func (c *Cursor) load() (loaded bool, err error) {
	f := c.file.footer
	if len(c.pages.data) == 0 {
		if c.group == len(f.groups) {
			return false, fmt.Errorf("there are only %d rows", f.rows)
		}
		if c.pages, err = c.file.list(c.group, c.column); err != nil {
			return false, err
		}
		if c.group++; c.pages.dictionary != nil {
			return false, c.words.decodeDictionary(c.pages.dictionary, &f.columns[c.column], f.groups[c.group-1].chunks[c.column].codec)
		}
		return false, nil
	}
	p := &c.pages.data[0]
	c.pages.data = c.pages.data[1:]
	var words *Values
	if c.pages.dictionary != nil {
		words = &c.words
	}
	return true, c.decode(p, &f.columns[c.column], f.groups[c.group-1].chunks[c.column].codec, words)
}

// Each calls use with each row of a column.
func (f *File) Each(column int, use func(row int, v *Values, i int) error) error {
	return guard.Read(f.mapping.Data, func() error {
		c := f.Cursor(column)
		for row := 0; row < f.Rows(); row += c.Rows() {
			if err := c.Next(); err != nil {
				return err
			}
			for i := range c.Rows() {
				if err := use(row+i, &c.Values, i); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
