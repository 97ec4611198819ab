// Package mapped maps files into memory and tells the system which pages will be needed. Whoever uses
// the memory must expect that a page cannot be read; see package internal/guard.
package mapped
