//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats/atrest"
)

const (
	// flushBytes is how much is gathered before a transaction: enough that the pages which
	// each rewrites do not count, little enough to stay in the processor's cache.
	flushBytes = 4 << 20
	// firstMap is the memory map's size at first; it is address space, nothing more.
	initialMapSize = 1 << 30
)

// store is one LMDB environment that is being written. Puts are gathered in a batch, which
// a goroutine writes in one transaction while the next one is gathered: LMDB ties a write
// transaction to its thread. It belongs to one goroutine.
type store struct {
	dir     string
	names   []string // of the databases; none is the main database alone
	limit   int      // flushBytes
	mapSize int64

	env  *lmdb.Env
	pin  *lmdb.Txn // holds the snapshot of the last checkpoint
	dbis []lmdb.DBI

	file             *os.File       // data.mdb, to start the disk
	writebackStarted int64          // bytes that the disk was started on
	checksums        blockChecksums // of the last checkpoint

	gathered batch            // gathered
	spare    batch            // empty
	running  chan batchResult // nil if no batch is being written
}

// batch is what one transaction writes.
type batch struct {
	buf  []byte
	puts []put
}

// written is a batch that has been, emptied for the next, and how that went.
type batchResult struct {
	batch
	err error
}

// put is a key and value in a batch's buffer: key, then value up to end.
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
	s := newStore(dir, names)
	return s, s.open()
}

func newStore(dir string, names []string) *store {
	// Room from the start: buffers that grow leave several times their size behind.
	room := func() batch { return batch{buf: make([]byte, 0, flushBytes+flushBytes/8)} }
	return &store{dir: dir, names: names, limit: flushBytes, mapSize: initialMapSize, gathered: room(), spare: room()}
}

// reopenStore continues the environment in dir, each of whose databases has so many entries, as
// of st.
func reopenStore(dir string, names []string, st snapshot, entries int) (*store, error) {
	s := newStore(dir, names)
	var err error
	if s.checksums, err = st.restore(s.data(), names, entries); err != nil {
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
	keepHeapPages()
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
	if s.file, err = os.Open(s.data()); err != nil {
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
	b := &s.gathered
	p := put{db: db, key: len(b.buf)}
	b.buf = append(b.buf, key...)
	p.at = len(b.buf)
	b.buf = add(b.buf)
	p.end = len(b.buf)
	b.puts = append(b.puts, p)
}

func (s *store) full() bool { return len(s.gathered.buf) >= s.limit }

// flush begins to write what was gathered, once the batch before is written; the error is
// that one's.
func (s *store) flush() error {
	if err := s.wait(); err != nil || len(s.gathered.puts) == 0 {
		return err
	}
	b, huge := s.gathered, len(s.gathered.buf) > 4*s.limit
	s.gathered, s.spare = s.spare, batch{}
	s.running = make(chan batchResult, 1)
	go func(done chan<- batchResult) {
		err := s.write(&b)
		b.puts, b.buf = b.puts[:0], b.buf[:0]
		if cap(b.buf) > 4*s.limit {
			b.buf = nil // one huge value does not hold memory for good
		}
		done <- batchResult{batch: b, err: err}
	}(s.running)
	if huge {
		return s.wait() // else the next huge value would be held besides
	}
	return nil
}

// wait is for the batch that is being written, if any. Until then the goroutine has the
// environment for itself.
func (s *store) wait() error {
	if s.running == nil {
		return nil
	}
	w := <-s.running
	s.running, s.spare = nil, w.batch
	return w.err
}

// write puts the batch in one transaction.
func (s *store) write(b *batch) error {
	err := s.growMap(b)
	if err == nil {
		err = s.env.Update(func(txn *lmdb.Txn) error {
			for _, p := range b.puts {
				if err := txn.Put(s.dbis[p.db], b.buf[p.key:p.at], b.buf[p.at:p.end], lmdb.Append); err != nil {
					return fmt.Errorf("key %q: %w", b.buf[p.key:p.at], err)
				}
			}
			return nil
		})
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", s.data(), s.diskFull(err, len(b.buf)))
	}
	return s.startWriteback()
}

// startWriteback lets the disk begin with what the last transaction wrote, so that little
// is left for the next sync.
func (s *store) startWriteback() error {
	st, err := s.file.Stat()
	if err != nil {
		return err
	}
	atrest.StartWriteback(s.file, s.writebackStarted, st.Size()-s.writebackStarted)
	s.writebackStarted = st.Size()
	return nil
}

// diskFull says so where LMDB tells of an input/output error only.
func (s *store) diskFull(err error, wanted int) error {
	var st unix.Statfs_t
	if !lmdb.IsErrnoSys(err, syscall.EIO) || unix.Statfs(s.dir, &st) != nil {
		return err
	}
	if free := st.Bavail * uint64(st.Bsize); free < uint64(wanted)+1<<20 {
		return fmt.Errorf("%w (%w)", syscall.ENOSPC, err)
	}
	return err
}

// grow makes the memory map large enough for the batch. The read transaction that
// pins the snapshot is not used to read, so that its map may move.
func (s *store) growMap(b *batch) error {
	info, err := s.env.Info()
	if err != nil {
		return err
	}
	page := int64(os.Getpagesize())
	need := (info.LastPNO+1)*page + int64(len(b.buf)) + int64(len(b.puts))*4*page + 1<<20
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
	if err := s.wait(); err != nil {
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

// finish writes all, closes the environment, leaves data.mdb alone in its final form and
// gives its checksums under name.
func (s *store) finish(name string) (sums atrest.FileChecksums, err error) {
	if err := errors.Join(s.flush(), s.wait()); err != nil {
		return sums, err
	}
	// The disk and the processor work side by side: nothing but the first block changes now.
	var wg sync.WaitGroup
	var sumErr error
	wg.Go(func() { sums, sumErr = s.checksumAll(name) })
	err = s.sync()
	wg.Wait()
	if err := errors.Join(err, sumErr, s.close()); err != nil {
		return sums, err
	}
	if err := os.Remove(filepath.Join(s.dir, lockName)); err != nil {
		return sums, err
	}
	if err := shrinkMapSize(s.data()); err != nil {
		return sums, err
	}
	head, err := atrest.ChecksumFile(s.data(), name, atrest.BlockSize)
	if err == nil {
		copy(sums.Blocks, head.Blocks)
	}
	return sums, err
}

// sumAll gives the checksums of data.mdb as it is; no transaction must be open.
func (s *store) checksumAll(name string) (atrest.FileChecksums, error) {
	st, err := s.file.Stat()
	if err != nil {
		return atrest.FileChecksums{}, err
	}
	return s.checksums.whole(s.file, st.Size(), name)
}

func (s *store) close() error {
	err := s.wait()
	if s.pin != nil {
		s.pin.Abort()
		s.pin = nil
	}
	if s.env != nil {
		err = errors.Join(err, s.env.Close())
		s.env = nil
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
		s.file = nil
	}
	return err
}
