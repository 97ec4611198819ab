// Package guard keeps one sample from ending the process, by a panic or by mapped memory that
// cannot be read.
//
// A page of a mapped file cannot be read if the disk fails or the file was shortened. The
// system then sends SIGBUS, both to Go code and to C code that the memory was lent to. With
// cgo on Linux, a handler replaces such a page of a file that [Map] mapped by a page of zeros,
// records that, and lets the program continue. The memory's user calls [Check] afterwards
// and drops its result if it read such zeros:
//
//	mark := guard.Now()
//	use(lent)
//	if err := guard.Check(mark, lent); err != nil { ... }
//
// Check also maps the page from the file again, so that a passing failure costs only the samples
// that it hit. A signal about other memory goes to the handler that was there before: Go's, Python's
// faulthandler's, PyTorch's.
//
// On other systems and without cgo, [Do] turns a fault of Go code into an error. A fault of C code
// ends the process there.
package guard
