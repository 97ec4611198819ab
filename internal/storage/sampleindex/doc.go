// Package sampleindex has the index of a dataset's samples: a file with a row of one fixed width for each
// sample, in key order, which is mapped and never parsed. All processes that map it share its memory;
// [Index] itself needs one bit for each page of 4 KiB.
//
// The file begins with a page that has the number of rows and an [ID] of what the index was made from.
// Then come the description of the layout, the rows, the texts that rows refer to, and the samples of each
// split. Checksums of all pages follow, and checksums of the checksums' pages, up to one that the first page
// has. A page is compared with its checksum when it is first used. docs/formats.md describes it byte by byte.
package sampleindex
