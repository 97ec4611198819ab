// Package sidecar reads the folder that describes a dataset: dataset.json, manifest and checksums. It
// is the dataset's own folder for LMDB and lies beside the data for tars and TFRecords.
package sidecar
