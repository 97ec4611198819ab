package lmdbfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"unsafe"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
)

// Environment is one LMDB environment, opened for reading. It is safe for concurrent use.
type Environment struct {
	Pages            // of the newest snapshot
	file      Pages  // all pages, also those that a damaged meta page does not have
	Name      string // of the file, relative to the dataset
	Mapping   *mapped.Mapping
	Stamp     []byte // see meta
	MetaErr   error  // damage of the meta pages
	Databases []Database
}

// Database is one database of an environment.
type Database struct {
	Root uint64
	Err  error // why nothing can be read from it
}

// errNotOpen is the error of databases that were not found because a page could not be read.
var errNotOpen = errors.New("its pages cannot be read")

// OpenEnvironment maps the named file in the dataset's folder and opens the named databases, or
// the main database if there are no names. The error describes damage of the file; the
// environment is returned too, and its undamaged databases can be read.
func OpenEnvironment(dir, name string, databases []string) (*Environment, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	mapping, err := mapped.Map(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = formats.WrapDamaged(err)
		}
		e := &Environment{Name: name, Mapping: &mapped.Mapping{}}
		e.fail(max(1, len(databases)), err)
		return e, err
	}
	e := &Environment{Name: name, Mapping: mapping}
	err = guard.Read(mapping.Data, func() error { return e.Open(mapping.Data, databases) })
	if unreadable := new(guard.ReadError); errors.As(err, &unreadable) {
		e.fail(max(1, len(databases)), err)
	}
	if err != nil {
		err = fmt.Errorf("open %s: %w", path, err)
	}
	return e, err
}

// Open reads the meta pages and finds the databases.
func (e *Environment) Open(data []byte, databases []string) error {
	e.fail(max(1, len(databases)), errNotOpen) // in case a read fails before they are found
	m, err := newestMeta(data)
	e.MetaErr = err
	if m.PageSize == 0 {
		e.fail(len(e.Databases), err)
		return err
	}
	e.Pages = newPages(data, &m)
	e.file = e.Pages
	e.file.Count = uint64(len(data) / m.PageSize)
	e.Stamp = m.stamp()
	main, mainErr := databaseRoot(m.main, m.No)
	if len(databases) == 0 {
		e.Databases[0] = Database{Root: main, Err: mainErr}
		return errors.Join(err, mainErr)
	}
	for i, name := range databases {
		d := Database{Err: mainErr}
		if d.Err == nil {
			d.Root, d.Err = e.namedRoot(main, name)
		}
		if d.Err != nil {
			d.Err = fmt.Errorf("database %s: %w", name, formats.WrapDamaged(d.Err))
		}
		e.Databases[i] = d
		err = errors.Join(err, d.Err)
	}
	return err
}

// fail sets e.databases to n databases whose reads all fail with err.
func (e *Environment) fail(n int, err error) {
	e.Databases = e.Databases[:0]
	for range n {
		e.Databases = append(e.Databases, Database{Err: err})
	}
}

// Get returns the value of key in the file's memory, valid until close.
func (e *Environment) Get(db int, key string) (b []byte, err error) {
	mark := guard.Now()
	var n Node
	if err = e.Databases[db].Err; err == nil {
		n, err = e.Find(e.Databases[db].Root, unsafe.Slice(unsafe.StringData(key), len(key)))
	}
	if err == nil {
		b, err = e.Value(&n)
	}
	if err = guard.Since(mark, e.Data, err); err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, formats.WrapDamaged(err))
	}
	return b, nil
}

// GetAt is get of a value that was recorded to be at that location, zero if it was not found then.
func (e *Environment) GetAt(db int, at sampleindex.Location, key []byte) ([]byte, error) {
	if at.Offset == 0 || e.file.Size == 0 {
		return e.Get(db, string(key)) // it reports what is damaged
	}
	mark := guard.Now()
	b, err := e.file.ValueAt(at, key)
	if no, _ := e.file.pageOf(at); !guard.Quiet(mark) && no < e.file.Count {
		err = guard.Since(mark, e.Data[int(no)*e.Size:][:e.Size], err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.Name, formats.WrapDamaged(err))
	}
	return b, nil
}

// Close unmaps the file; memory that was lent must no longer be used.
func (e *Environment) Close() error {
	e.Pages, e.file = Pages{}, Pages{}
	return e.Mapping.Close()
}
