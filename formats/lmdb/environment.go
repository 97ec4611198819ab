package lmdb

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

// environment is one LMDB environment, opened for reading. It is safe for concurrent use.
type environment struct {
	pages            // of the newest snapshot
	file      pages  // all pages, also those that a damaged meta page does not have
	name      string // of the file, relative to the dataset
	mapping   *mapped.Mapping
	stamp     []byte // see meta
	metaErr   error  // damage of the meta pages
	databases []database
}

// database is one database of an environment.
type database struct {
	root uint64
	err  error // why nothing can be read from it
}

// errNotOpen is the error of databases that were not found because a page could not be read.
var errNotOpen = errors.New("its pages cannot be read")

// openEnvironment maps the named file in the dataset's folder and opens the named databases, or
// the main database if there are no names. The error describes damage of the file; the
// environment is returned too, and its undamaged databases can be read.
func openEnvironment(dir, name string, databases []string) (*environment, error) {
	path := filepath.Join(dir, filepath.FromSlash(name))
	mapping, err := mapped.Map(path)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			err = formats.WrapDamaged(err)
		}
		e := &environment{name: name, mapping: &mapped.Mapping{}}
		e.fail(max(1, len(databases)), err)
		return e, err
	}
	e := &environment{name: name, mapping: mapping}
	err = guard.Read(mapping.Data, func() error { return e.open(mapping.Data, databases) })
	if unreadable := new(guard.ReadError); errors.As(err, &unreadable) {
		e.fail(max(1, len(databases)), err)
	}
	if err != nil {
		err = fmt.Errorf("open %s: %w", path, err)
	}
	return e, err
}

// open reads the meta pages and finds the databases.
func (e *environment) open(data []byte, databases []string) error {
	e.fail(max(1, len(databases)), errNotOpen) // in case a read fails before they are found
	m, err := newestMeta(data)
	e.metaErr = err
	if m.pageSize == 0 {
		e.fail(len(e.databases), err)
		return err
	}
	e.pages = newPages(data, &m)
	e.file = e.pages
	e.file.count = uint64(len(data) / m.pageSize)
	e.stamp = m.stamp()
	main, mainErr := databaseRoot(m.main, m.no)
	if len(databases) == 0 {
		e.databases[0] = database{root: main, err: mainErr}
		return errors.Join(err, mainErr)
	}
	for i, name := range databases {
		d := database{err: mainErr}
		if d.err == nil {
			d.root, d.err = e.namedRoot(main, name)
		}
		if d.err != nil {
			d.err = fmt.Errorf("database %s: %w", name, formats.WrapDamaged(d.err))
		}
		e.databases[i] = d
		err = errors.Join(err, d.err)
	}
	return err
}

// fail sets e.databases to n databases whose reads all fail with err.
func (e *environment) fail(n int, err error) {
	e.databases = e.databases[:0]
	for range n {
		e.databases = append(e.databases, database{err: err})
	}
}

// get returns the value of key in the file's memory, valid until close.
func (e *environment) get(db int, key string) (b []byte, err error) {
	mark := guard.Now()
	var n node
	if err = e.databases[db].err; err == nil {
		n, err = e.find(e.databases[db].root, unsafe.Slice(unsafe.StringData(key), len(key)))
	}
	if err == nil {
		b, err = e.value(&n)
	}
	if err = guard.Since(mark, e.data, err); err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, formats.WrapDamaged(err))
	}
	return b, nil
}

// getAt is get of a value that was recorded to be at that location, zero if it was not found then.
func (e *environment) getAt(db int, at sampleindex.Location, key []byte) ([]byte, error) {
	if at.Offset == 0 || e.file.size == 0 {
		return e.get(db, string(key)) // it reports what is damaged
	}
	mark := guard.Now()
	b, err := e.file.valueAt(at, key)
	if no, _ := e.file.pageOf(at); !guard.Quiet(mark) && no < e.file.count {
		err = guard.Since(mark, e.data[int(no)*e.size:][:e.size], err)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", e.name, formats.WrapDamaged(err))
	}
	return b, nil
}

func (e *environment) close() error {
	e.pages, e.file = pages{}, pages{}
	return e.mapping.Close()
}
