package parquetfile

import (
	"errors"
	"fmt"
	"math"
	"sort"
	"sync/atomic"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// File is an open Parquet file. It is safe for concurrent use, until Close.
type File struct {
	Path string
	// State is the file's when it was opened.
	State filestate.State

	mapping *mapped.Mapping
	isLent  bool // the memory is the caller's
	footer  *footer
	maxPage int                        // bytes, before compression
	lists   []atomic.Pointer[pageList] // of each chunk, by row group and column
	listed  atomic.Int64               // pages in lists
}

// maxListed is the most pages of a file that are listed: they take 128 MiB.
const maxListed = 1 << 20

// pageList is the pages of a chunk.
type pageList struct {
	dictionary *page
	data       []page
}

// Open maps the file and reads its footer.
func Open(path string) (*File, error) {
	st, err := filestate.Of(path)
	if err != nil {
		return nil, err
	}
	m, err := mapped.Map(path)
	if err != nil {
		return nil, err
	}
	f := &File{Path: path, State: st, mapping: m}
	if err := f.parse(Limits{}); err != nil {
		return nil, errors.Join(err, m.Close())
	}
	return f, nil
}

// Limits bound what a file may claim further than the package does; 0 is no limit.
type Limits struct {
	Page  int // bytes of a page before compression
	Group int // rows of a row group
}

// Parse is Open of the bytes of a file, which the File uses until Close. Errors name it path.
func Parse(path string, b []byte, most Limits) (*File, error) {
	f := &File{Path: path, mapping: &mapped.Mapping{Data: b}, isLent: true}
	return f, f.parse(most)
}

// parse reads the footer.
func (f *File) parse(most Limits) error {
	if f.maxPage = maxPage; most.Page > 0 {
		f.maxPage = most.Page
	}
	if most.Group == 0 {
		most.Group = math.MaxInt32
	}
	err := guard.Read(f.mapping.Data, func() (err error) {
		f.footer, err = parseFooter(f.mapping.Data, most.Group)
		return err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", f.Path, err)
	}
	f.lists = make([]atomic.Pointer[pageList], len(f.footer.groups)*len(f.footer.columns))
	return nil
}

// Close frees the file's memory.
func (f *File) Close() error {
	if f.isLent {
		return nil
	}
	return f.mapping.Close()
}

// Size returns the number of bytes of the file.
func (f *File) Size() int { return len(f.mapping.Data) }

// Rows returns the number of rows.
func (f *File) Rows() int { return f.footer.rows }

// Columns lists the columns, in the order of the schema.
func (f *File) Columns() []Column { return f.footer.columns }

// Metadata returns a text of the file's own metadata, "" if there is none.
func (f *File) Metadata(key string) string { return f.footer.metadata[key] }

// Mean returns how many bytes the values of a column have on average, before compression, in the row group of a row.
func (f *File) Mean(row, column int) int64 {
	k := f.groupOf(row)
	if k < 0 {
		return 0
	}
	g := &f.footer.groups[k]
	return g.chunks[column].plain / int64(g.rows)
}

// groupOf returns the row group that has the row, -1 if there is none.
func (f *File) groupOf(row int) int {
	groups := f.footer.groups
	k := sort.Search(len(groups), func(k int) bool { return groups[k].from+groups[k].rows > row })
	if row < 0 || k == len(groups) {
		return -1
	}
	return k
}

// locate returns the page that has the row of a column, the page's place in c, and the row's number in it.
func (f *File) locate(row, column int) (k pageKey, l *pageList, at int, err error) {
	g := f.groupOf(row)
	if g < 0 {
		return k, nil, 0, fmt.Errorf("%s: it has no row %d", f.Path, row)
	}
	k = pageKey{f, g, column, 0}
	if l, err = f.pages(g, column); err != nil {
		return k, nil, 0, err
	}
	row -= f.footer.groups[g].from
	k.page = sort.Search(len(l.data), func(p int) bool { return l.data[p].from+l.data[p].rows > row })
	return k, l, row - l.data[k.page].from, nil
}

// pages lists the pages of a chunk, once.
func (f *File) pages(g, column int) (*pageList, error) {
	list := &f.lists[g*len(f.footer.columns)+column]
	if l := list.Load(); l != nil {
		return l, nil
	}
	var l *pageList
	err := guard.Read(f.chunkBytes(g, column), func() (err error) {
		l, err = f.list(g, column)
		return err
	})
	if err != nil {
		return nil, err
	}
	if n := f.listed.Add(int64(len(l.data))); n > maxListed {
		f.listed.Add(-int64(len(l.data)))
		return nil, damaged("%s: the file has more than %d pages", f.Path, maxListed)
	}
	list.Store(l)
	return l, nil
}

func (f *File) chunkBytes(g, column int) []byte {
	c := &f.footer.groups[g].chunks[column]
	return f.mapping.Data[c.from:][:c.size]
}

func (f *File) list(g, column int) (*pageList, error) {
	dictionary, data, err := listPages(f.chunkBytes(g, column), f.footer.groups[g].rows, f.maxPage)
	if err != nil {
		return nil, fmt.Errorf("%s: column %s of row group %d: %w", f.Path, f.footer.columns[column].Name(), g, err)
	}
	return &pageList{dictionary, data}, nil
}

// Plain returns the bytes of a column before compression.
func (f *File) Plain(column int) (n int64) {
	for i := range f.footer.groups {
		n += f.footer.groups[i].chunks[column].plain
	}
	return n
}
