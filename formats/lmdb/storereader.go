//go:build cgo

package lmdb

import "github.com/bmatsuo/lmdb-go/lmdb"

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
