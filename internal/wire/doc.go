// Package wire reads and appends the values of dsconv's small binary files, within their bounds.
package wire
