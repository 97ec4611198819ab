// Package sampleindex has the index of a dataset's samples: a file that is mapped, shared by all processes
// and never parsed. docs/formats.md describes it byte by byte.
package sampleindex
