package formats

import (
	"context"
	"io"
)

// Dataset is a set of samples that can be read in any order. It is safe for concurrent
// use. Index i, from 0 to Len()-1, is the rank of the sample's key in bytewise order.
type Dataset interface {
	// Meta describes the dataset. The caller must not change what it points to.
	Meta() *Meta
	Len() int
	// Info tells what is known about sample i without reading it.
	Info(i int) (Info, error)
	// Read fills s with sample i, one value per field of the schema, and reuses s's buffers
	// (Value.Buffer).
	// An error names the sample's key; ErrDamaged is in its chain if the stored bytes are
	// not what they were.
	Read(i int, s *Sample) error
	Close() error
}

// Viewer is a Dataset that can lend its own memory instead of copying.
type Viewer interface {
	// View is Read, but the values' Data may point into memory of the dataset: read-only,
	// valid until Close. Buffers of an earlier Read in s are dropped, not written to; what
	// is lent is marked (Value.Lend), so that a later Read into s does not write there. Only
	// Read compares the bytes with the sample's checksum.
	View(i int, s *Sample) error
}

// Prefetcher is a Dataset that can be told what will be read soon.
type Prefetcher interface {
	// Prefetch has the system bring the samples of those indices from the disk into the page
	// cache, in the order of their places in the files, and does not wait for that. It is a
	// hint: indices may come in any order and more than once, those that are none are passed
	// over, and nothing else tells that it was taken. Where a look at a few of the samples finds
	// them in memory it does nothing, in a few microseconds. It keeps nothing of indices and
	// is safe for concurrent use, but not with Close.
	Prefetch(indices []int32)
}

// Identifier is a Dataset that has no checksums, such as a folder.
type Identifier interface {
	// Identify writes what tells the dataset from others whose samples have the same keys,
	// sizes and times.
	Identify(w io.Writer) error
}

// Stored is a Dataset whose samples do not lie in the order of their keys.
type StorageOrdered interface {
	// StorageOrder lists the indices of all samples as their records lie in the files one
	// after another. The slice is the caller's.
	StorageOrder() []int32
}

// Checker is a Dataset with checksums of its files.
type Checker interface {
	// Check reads part p of the dataset's files on up to workers goroutines and reports each
	// damaged block. The error is about the check itself (a file that cannot be read, a
	// table that does not check), not about the damage it reports. report is not called
	// concurrently.
	Check(ctx context.Context, p Portion, workers int, report func(Damage)) error
	// CheckQuick is Check without reading the data: the table of checksums checks itself and
	// is compared with the files' names and sizes and with the small files that describe the
	// dataset, and each record's place with the file that it lies in.
	CheckQuick(ctx context.Context, report func(Damage)) error
}

// Part is number K, from 0, of N about equal parts; the zero value is the whole.
type Portion struct{ Index, Count int }

// Of is which of n things the part has: those from up to to, without it.
func (p Portion) Range(n int) (from, to int) {
	if p.Count == 0 {
		return 0, n
	}
	return n * p.Index / p.Count, n * (p.Index + 1) / p.Count
}

// Salvager is a Format that opens what is left of a damaged dataset.
type Salvager interface {
	// Salvage is Open that puts up with data files that are damaged, cut or missing: Info
	// tells of all samples, and those whose bytes are lost fail to Read with ErrDamaged. What
	// describes the dataset, the manifest above all, must be whole.
	Salvage(path string) (Dataset, error)
}

// Damage is a place in a file that is not what was written.
type Damage struct {
	File   string // relative to the dataset
	Offset int64  // of the block's first byte
	Length int64
	Cause  string
}

// Writer builds a dataset beside its final name and makes it visible, whole, in Commit.
// It belongs to one goroutine.
type Writer interface {
	// Write adds s, one value per field of the schema. It keeps nothing of s. Keys are
	// unique; LMDB and HDF5 want them in bytewise order (see Ordered).
	Write(s *Sample) error
	// Checkpoint makes what was written so far survive a kill, with note, which
	// WritableFormat.Resume gives back.
	Checkpoint(note []byte) error
	// Commit finishes the dataset and makes it visible under its name.
	Commit() error
	// Close frees what the Writer holds. Before Commit it leaves DST.partial, which Resume
	// continues, and nothing that looks finished. After Commit it does nothing.
	Close() error
}

// Cutter is a Writer of several files: Cut ends the current file, the next Write starts
// another. A Cut before anything was written to the current file does nothing.
type ShardEnder interface {
	EndShard() error
}

// Keeper is a Writer that can take over a file of the dataset which it replaces, so that a
// dataset grows without being written anew.
type FileReuser interface {
	// Keep makes file i of the old dataset, as it is, file i of the new one; where less files
	// were written or kept before it, empty ones come between. change, if not nil, may alter of a sample what
	// the manifest alone holds and no file: source, and where the format keeps them there
	// alone label, split and columns.
	ReuseFile(i int, change func(*Info)) error
}

// Format opens one kind of dataset.
type Format interface {
	// Name is the word for --format: "lmdb", "shard", ...
	Name() string
	// Match says whether path names a dataset of this format, by its name and, where that
	// does not decide, by what is there.
	Match(path string) bool
	Open(path string) (Dataset, error)
}

// WritableFormat is a Format that can be written.
type WritableFormat interface {
	Format
	// Traits says what the format wants of its writer's caller.
	Traits() Traits
	// Create starts a dataset at path. ErrExists if there is a finished one, ErrPartial if
	// there is an unfinished one, ErrLocked if another process is writing it.
	Create(path string, m Meta, o CreateOptions) (Writer, error)
	// Resume opens an unfinished dataset as of its last checkpoint and gives back that
	// checkpoint's note, nil if there was none yet. ErrNoPartial if there is none;
	// ErrPublished if only the last step of Commit was left, which is then done.
	Resume(path string, o CreateOptions) (w Writer, m Meta, note []byte, err error)
}

// Traits are what differs between formats for the caller of a Writer.
type Traits struct {
	// Ordered: samples must be written in bytewise order of their keys. Otherwise the
	// ecosystem's readers go through the file in order, so the samples are best shuffled.
	Ordered bool
	// Sharded: path may be a pattern with %d for several files, and the Writer is a Cutter.
	Sharded bool
	// Zstd: CreateOptions.Zstd compresses the files themselves.
	Zstd bool
	// LabelsInManifest: a designated label of kind Label, splits and columns are in the manifest
	// alone, so that its Keeper changes them without touching the data.
	LabelsInManifest bool
}

// CreateOptions are the options of a Writer that decide bytes but not samples.
type CreateOptions struct {
	// Zstd is the level (1 to 22) of the files' compression where Traits.Zstd; 0 is none.
	Zstd int
	// Replace allows a finished dataset of dsconv's at path; it stays until Commit.
	Replace bool
}
