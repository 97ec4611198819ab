// Package wire appends and reads the numbers and strings of dsconv's own small binary files, with bounds
// checks.
package wire
