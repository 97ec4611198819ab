//go:build cgo

package lmdb

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"sync"
	"syscall"

	"github.com/bmatsuo/lmdb-go/lmdb"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/staging"
)

// LibraryVersion returns the version of the LMDB library in this build, "" without one.
func LibraryVersion() string {
	major, minor, patch, _ := lmdb.Version()
	return fmt.Sprintf("%d.%d.%d", major, minor, patch)
}

const (
	// flushBytes is how much is gathered before a transaction: so much that the pages which
	// each transaction rewrites do not matter, so little that it stays in the processor's cache.
	flushBytes = 4 << 20
)

// store is one LMDB environment, opened for writing. Puts are gathered in a batch, which
// a goroutine writes in one transaction while the next one is gathered: LMDB ties a write
// transaction to its thread. A store belongs to one goroutine.
type store struct {
	stage   *staging.Stage
	name    string   // of the folder in the staging folder
	dir     string   // its path
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

// batch holds the puts of one transaction.
type batch struct {
	buf  []byte
	puts []put
}

// batchResult is the result of writing a batch, and the emptied batch for reuse.
type batchResult struct {
	batch
	err error
}

// put is a key and a value in a batch's buffer: the key begins at key, the value at at, and ends
// at end.
type put struct {
	db           int
	key, at, end int
}

// createStore creates the environment in the named folder of the staging folder and removes what an earlier attempt left there.
func createStore(stage *staging.Stage, name string, names []string) (*store, error) {
	if err := errors.Join(stage.Remove(name), stage.Mkdir(name)); err != nil {
		return nil, err
	}
	s := newStore(stage, name, names)
	return s, s.open()
}

func newStore(stage *staging.Stage, name string, names []string) *store {
	// Full capacity from the start: growing buffers would allocate several times as much.
	newBatch := func() batch { return batch{buf: make([]byte, 0, flushBytes+flushBytes/8)} }
	return &store{stage: stage, name: name, dir: stage.Path(name), names: names, limit: flushBytes, mapSize: initialMapSize, gathered: newBatch(), spare: newBatch()}
}

// reopenStore continues the environment in the named folder as of st.
func reopenStore(stage *staging.Stage, name string, names []string, st snapshot) (*store, error) {
	s := newStore(stage, name, names)
	f, err := stage.Open(path.Join(name, dataName))
	if err != nil {
		return nil, err
	}
	if s.checksums, err = st.restore(f); err != nil {
		return nil, err
	}
	return s, s.open()
}

func (s *store) removeLock() error { return s.stage.Remove(path.Join(s.name, lockName)) }

func (s *store) data() string { return filepath.Join(s.dir, dataName) }

func (s *store) open() (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("open %s: %w", s.data(), errors.Join(err, s.close()))
		}
	}()
	// LMDB would clear the lock file of a killed process itself, but not that of another machine
	// on a shared file system.
	if err := s.removeLock(); err != nil {
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
	// Checkpoints sync, transactions do not: they may be lost until the next checkpoint.
	if err := s.env.Open(s.dir, lmdb.NoSync, 0o644); err != nil {
		return err
	}
	if err := s.env.Update(s.openDatabases); err != nil {
		return err
	}
	if s.file, err = s.stage.Open(path.Join(s.name, dataName)); err != nil {
		return err
	}
	if s.pin, err = s.env.BeginTxn(nil, lmdb.Readonly); err == nil {
		// lmdb-go's own finalizer prints that the transaction of a forgotten writer is aborted.
		runtime.SetFinalizer(s.pin, nil)
		runtime.SetFinalizer(s.pin, (*lmdb.Txn).Abort)
	}
	return err
}

// openDatabases opens the databases, and creates them if they do not exist.
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

// put adds key and the value that add appends to the batch.
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

// flush waits for the previous batch, whose error it returns, and starts writing the gathered one.
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
			b.buf = nil // do not keep the memory of one huge value
		}
		done <- batchResult{batch: b, err: err}
	}(s.running)
	if huge {
		return s.wait() // otherwise two huge values would be in memory
	}
	return nil
}

// wait waits for the batch that is being written, if any. Until it returns, only that goroutine
// may use the environment.
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

// startWriteback asks the system to write the last transaction's pages to the disk now, so that
// little is left for the next sync.
func (s *store) startWriteback() error {
	st, err := s.file.Stat()
	if err != nil {
		return err
	}
	staging.StartWriteback(s.file, s.writebackStarted, st.Size()-s.writebackStarted)
	s.writebackStarted = st.Size()
	return nil
}

// diskFull adds ENOSPC to err if the disk is full: LMDB itself only returns EIO.
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

// sync writes the gathered batch and makes all that was written durable.
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

// reopen opens the environment again and pins its current snapshot.
func (s *store) reopen() error {
	if err := s.close(); err != nil {
		return err
	}
	return s.open()
}

// finish writes all, closes the environment, brings data.mdb into its final form, without a lock
// file beside it, and returns its checksums under name.
func (s *store) finish(name string) (sums checksum.FileChecksums, err error) {
	if err := errors.Join(s.flush(), s.wait()); err != nil {
		return sums, err
	}
	// Compute checksums during the sync: only the first block changes from now on.
	var wg sync.WaitGroup
	var sumErr error
	wg.Go(func() { sums, sumErr = s.checksumAll(name) })
	err = s.sync()
	wg.Wait()
	if err := errors.Join(err, sumErr, s.close()); err != nil {
		return sums, err
	}
	if err := s.removeLock(); err != nil {
		return sums, err
	}
	if err := s.shrinkMapSize(); err != nil {
		return sums, err
	}
	head, err := checksum.OfFile(s.data(), name, checksum.BlockSize)
	if err == nil {
		copy(sums.Blocks, head.Blocks)
	}
	return sums, err
}

// checksumAll returns the checksums of the current data.mdb; no transaction may be open.
func (s *store) checksumAll(name string) (checksum.FileChecksums, error) {
	st, err := s.file.Stat()
	if err != nil {
		return checksum.FileChecksums{}, err
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

// storeReader reads what was put into a store. The store must not be used meanwhile.
type storeReader struct {
	*store
	txn      *lmdb.Txn
	gathered []map[string]put // of each database: what no transaction has written yet
}

// read returns a reader of all that was put. No batch may be running; the caller aborts the transaction.
func (s *store) read() (*storeReader, error) {
	r := &storeReader{store: s, gathered: make([]map[string]put, len(s.dbis))}
	for i := range r.gathered {
		r.gathered[i] = map[string]put{}
	}
	b := &s.gathered
	for _, p := range b.puts {
		r.gathered[p.db][string(b.buf[p.key:p.at])] = p
	}
	var err error
	if r.txn, err = s.env.BeginTxn(nil, lmdb.Readonly); err == nil {
		r.txn.RawRead = true
	}
	return r, err
}

// value returns the value of key, valid until the store is used again.
func (r *storeReader) value(db int, key string) ([]byte, error) {
	if p, ok := r.gathered[db][key]; ok {
		return r.store.gathered.buf[p.at:p.end], nil
	}
	return r.txn.Get(r.dbis[db], []byte(key))
}
