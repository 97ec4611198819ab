// Package lmdbfile reads the trees of LMDB's data.mdb without LMDB's library. Nothing in the file is trusted: every
// page number, offset and size is compared with the page and the file before it is used. An [Environment] is safe
// for concurrent use; a [Cursor] belongs to one goroutine. Memory of the mapped file is used through package guard.
package lmdbfile
