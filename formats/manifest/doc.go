// Package manifest has the table of a dataset's samples: a row each, in memory ([Table]) and as
// manifest.parquet, which it writes and reads; the catalog of an open dataset ([Catalog]); and the list
// of samples that were removed. docs/formats.md describes the files byte by byte.
package manifest
