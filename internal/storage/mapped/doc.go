// Package mapped maps files into memory and tells the system which pages will be needed. Reading a page
// can fail: use the memory through package internal/guard.
package mapped
