// Package guard keeps what one sample does from ending the process: a panic, and mapped
// memory that cannot be read.
//
// A page of a mapped file cannot be read if the disk fails or the file was shortened. The
// system then sends SIGBUS, to Go code as well as to C code that the memory was lent to. With
// cgo on Linux, a handler puts a page of zeros in the place of such a page of a file that [Map]
// mapped, notes that, and lets the program go on. The memory's user asks [Check] afterwards
// whether what it read was the file's, and throws its result away if not:
//
//	mark := guard.Now()
//	use(lent)
//	if err := guard.Check(mark, lent); err != nil { ... }
//
// Check also maps the page anew, so that a passing failure costs only the samples that it hit.
// Where the signal is not about such memory, who handled it before handles it: Go, Python's
// faulthandler, PyTorch.
//
// Elsewhere [Do] turns the fault of Go code into an error. A fault of C code, where there is any,
// ends the process there.
package guard
