//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"
)

const (
	// flushBytes is how much is gathered before a transaction: enough that the pages which
	// each rewrites do not count, little enough to stay in the processor's cache.
	flushBytes = 4 << 20
	// firstMap is the memory map's size at first; it is address space, nothing more.
	firstMap = 1 << 30
)

// store is one LMDB environment that is being written. Puts are gathered and written in
// one transaction within one call, since LMDB ties a write transaction to its thread.
type store struct {
	dir     string
	names   []string // of the databases; none is the main database alone
	limit   int      // flushBytes
	mapSize int64

	env  *lmdb.Env
	pin  *lmdb.Txn // holds the snapshot of the last checkpoint
	dbis []lmdb.DBI

	buf  []byte
	puts []put
}

// put is a key and value in the buffer: key, then value up to end.
type put struct {
	db           int
	key, at, end int
}

// createStore makes the environment in dir; what an earlier attempt left there goes.
func createStore(dir string, names []string) (*store, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	s := &store{dir: dir, names: names, limit: flushBytes, mapSize: firstMap}
	return s, s.open()
}

// reopenStore continues the environment in dir as of st.
func reopenStore(dir string, names []string, st snapshot) (*store, error) {
	s := &store{dir: dir, names: names, limit: flushBytes, mapSize: firstMap}
	if err := st.restore(s.data()); err != nil {
		return nil, err
	}
	return s, s.open()
}

func (s *store) data() string { return filepath.Join(s.dir, dataName) }

func (s *store) open() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", s.data(), errors.Join(err, s.close()))
		}
	}()
	// A lock file that a killed process left would be cleared by LMDB too, but not that of
	// another machine on a shared file system.
	if err := os.RemoveAll(filepath.Join(s.dir, lockName)); err != nil {
		return err
	}
	if s.env, err = lmdb.NewEnv(); err != nil {
		return err
	}
	if err := s.env.SetMaxDBs(max(1, len(s.names))); err != nil {
		return err
	}
	if err := s.env.SetMapSize(s.mapSize); err != nil {
		return err
	}
	// Checkpoints sync, transactions do not: until the next checkpoint they may be lost.
	if err := s.env.Open(s.dir, lmdb.NoSync, 0o644); err != nil {
		return err
	}
	if err := s.env.Update(s.openDatabases); err != nil {
		return err
	}
	s.pin, err = s.env.BeginTxn(nil, lmdb.Readonly)
	return err
}

// openDatabases writes nothing if the databases are there.
func (s *store) openDatabases(txn *lmdb.Txn) error {
	s.dbis = s.dbis[:0]
	if len(s.names) == 0 {
		db, err := txn.OpenRoot(0)
		s.dbis = append(s.dbis, db)
		return err
	}
	for _, name := range s.names {
		db, err := txn.CreateDBI(name)
		if err != nil {
			return fmt.Errorf("database %s: %w", name, err)
		}
		s.dbis = append(s.dbis, db)
	}
	return nil
}

// put gathers key and the value that add appends.
func (s *store) put(db int, key string, add func(b []byte) []byte) {
	p := put{db: db, key: len(s.buf)}
	s.buf = append(s.buf, key...)
	p.at = len(s.buf)
	s.buf = add(s.buf)
	p.end = len(s.buf)
	s.puts = append(s.puts, p)
}

func (s *store) full() bool { return len(s.buf) >= s.limit }

// flush writes what was gathered in one transaction.
func (s *store) flush() error {
	if len(s.puts) == 0 {
		return nil
	}
	err := s.grow()
	if err == nil {
		err = s.env.Update(func(txn *lmdb.Txn) error {
			for _, p := range s.puts {
				if err := txn.Put(s.dbis[p.db], s.buf[p.key:p.at], s.buf[p.at:p.end], lmdb.Append); err != nil {
					return fmt.Errorf("key %q: %w", s.buf[p.key:p.at], err)
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.data(), s.diskFull(err))
	}
	s.buf, s.puts = s.buf[:0], s.puts[:0]
	if cap(s.buf) > 4*s.limit {
		s.buf = nil // one huge value does not hold memory for good
	}
	return nil
}

// diskFull says so where LMDB tells of an input/output error only.
func (s *store) diskFull(err error) error {
	var st unix.Statfs_t
	if !lmdb.IsErrnoSys(err, syscall.EIO) || unix.Statfs(s.dir, &st) != nil {
		return err
	}
	if free := st.Bavail * uint64(st.Bsize); free < uint64(len(s.buf))+1<<20 {
		return fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	}
	return err
}

// grow makes the memory map large enough for what was gathered. The read transaction that
// pins the snapshot is not used to read, so that its map may move.
func (s *store) grow() error {
	info, err := s.env.Info()
	if err != nil {
		return err
	}
	page := int64(os.Getpagesize())
	need := (info.LastPNO+1)*page + int64(len(s.buf)) + int64(len(s.puts))*4*page + 1<<20
	if need <= s.mapSize {
		return nil
	}
	for s.mapSize < need {
		s.mapSize *= 2
	}
	return s.env.SetMapSize(s.mapSize)
}

// sync writes what was gathered and makes all of it survive a kill of the machine.
func (s *store) sync() error {
	if err := s.flush(); err != nil {
		return err
	}
	if err := s.env.Sync(true); err != nil {
		return fmt.Errorf("sync %s: %w", s.data(), err)
	}
	return nil
}

// reopen starts the environment afresh and pins the snapshot that there is now.
func (s *store) reopen() error {
	if err := s.close(); err != nil {
		return err
	}
	return s.open()
}

// finish writes all, closes the environment and leaves data.mdb alone in its final form.
func (s *store) finish() error {
	if err := s.sync(); err != nil {
		return err
	}
	if err := s.close(); err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(s.dir, lockName)); err != nil {
		return err
	}
	return fitMap(s.data())
}

func (s *store) close() error {
	if s.pin != nil {
		s.pin.Abort()
		s.pin = nil
	}
	if s.env == nil {
		return nil
	}
	env := s.env
	s.env = nil
	return env.Close()
}
