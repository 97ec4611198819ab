// Package filestate tells whether a file that is read over hours is still the one that was opened.
package filestate
