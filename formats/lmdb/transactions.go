//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"sync"
	"unsafe"

	"github.com/bmatsuo/lmdb-go/lmdb"
)

// environment is one LMDB environment that is read. It is safe for concurrent use: each
// get takes an idle read transaction or begins another; all last until close.
type environment struct {
	env  *lmdb.Env
	dbis []lmdb.DBI

	mu   sync.Mutex
	idle []*lmdb.Txn
}

// openEnvironment opens the one in dir with its named databases, or the main database if
// there are no names. Nothing is written: there is no lock file.
func openEnvironment(dir string, names []string) (*environment, error) {
	env, err := lmdb.NewEnv()
	if err != nil {
		return nil, err
	}
	e := &environment{env: env}
	if err = env.SetMaxDBs(max(1, len(names))); err == nil {
		// Not NoReadahead: values have many pages, which the kernel would then read one by one.
		err = env.Open(dir, lmdb.Readonly|lmdb.NoLock, 0)
	}
	if err == nil {
		err = e.openDatabases(names)
	}
	if err != nil {
		return nil, fmt.Errorf("open %s/%s: %w", dir, dataName, errors.Join(err, e.close()))
	}
	return e, nil
}

func (e *environment) openDatabases(names []string) error {
	txn, err := e.env.BeginTxn(nil, lmdb.Readonly)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		db, err := txn.OpenRoot(0)
		if err != nil {
			txn.Abort()
			return err
		}
		e.dbis = append(e.dbis, db)
	}
	for _, name := range names {
		db, err := txn.OpenDBI(name, 0)
		if err != nil {
			txn.Abort()
			return fmt.Errorf("database %s: %w", name, err)
		}
		e.dbis = append(e.dbis, db)
	}
	return txn.Commit() // keeps the handles
}

// get gives the value of key in LMDB's memory, valid until close.
func (e *environment) get(db int, key string) ([]byte, error) {
	txn, err := e.take()
	if err != nil {
		return nil, err
	}
	b, err := txn.Get(e.dbis[db], unsafe.Slice(unsafe.StringData(key), len(key)))
	e.mu.Lock()
	e.idle = append(e.idle, txn)
	e.mu.Unlock()
	return b, err
}

func (e *environment) take() (*lmdb.Txn, error) {
	e.mu.Lock()
	if n := len(e.idle); n > 0 {
		txn := e.idle[n-1]
		e.idle = e.idle[:n-1]
		e.mu.Unlock()
		return txn, nil
	}
	e.mu.Unlock()
	txn, err := e.env.BeginTxn(nil, lmdb.Readonly)
	if err != nil {
		return nil, err
	}
	txn.RawRead = true
	return txn, nil
}

func (e *environment) close() error {
	for _, txn := range e.idle {
		txn.Abort()
	}
	e.idle = nil
	return e.env.Close()
}
