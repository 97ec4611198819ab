// Package sidecar reads the folder that describes a dataset: dataset.json, manifest and checksums. For
// LMDB it is the dataset's own folder; for tars and TFRecords it lies beside the data.
package sidecar
