package formats

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// Dataset is a set of samples that can be read in any order. It is safe for concurrent
// use. Index i, from 0 to Len()-1, is the position of the sample's key in bytewise order.
//
// A Dataset of one's own sets in Read the sample's Key, its Values and, where it has them, Split and
// Columns. An image is Data and Encoding; pixels (Raw) also have DType (Uint8 or Uint16) and Shape:
// height, width and channels, or height and width of one channel. SetInt64 makes a label.
type Dataset interface {
	// Meta describes the dataset. The caller must not change what it points to. A Dataset of one's own
	// must set Schema, and Splits and Columns if it has any; the rest may be left out.
	Meta() *Meta
	Len() int
	// Info describes sample i without reading its values.
	Info(i int) (Info, error)
	// Read fills s with sample i, one value per field of the schema. What it sets is s's own
	// memory (Sample.Resize, Value.Copy), which it uses again, or memory of the dataset that never
	// changes: it may assign s.Values = []Value{...}. An error names the sample's key; ErrDamaged is in its chain if the stored bytes are
	// not those that were written.
	Read(i int, s *Sample) error
	// Close releases what the dataset holds. It waits for the methods that are running, so none of
	// them may call it. A second Close does nothing and returns nil. Afterwards Meta and Len can
	// still be used, every other method returns ErrClosed, and those without an error do nothing.
	Close() error
}

// Viewer is a Dataset that can lend its own memory instead of copying.
type Viewer interface {
	// View is Read, but the values' Data may point into memory of the dataset: read-only,
	// valid until Close. It does not write to the Data of an earlier Read into s. Only Read
	// compares the bytes with the sample's checksum.
	View(i int, s *Sample) error
	// Lease keeps what View lends valid after Close too, until release is called. Until then Close
	// only refuses new calls, and the last release frees the memory. release may be called again
	// and from any goroutine. ErrClosed if the dataset is closed. A dataset whose memory is Go's
	// own returns a function that does nothing.
	Lease() (release func(), err error)
}

// Prefetcher is a Dataset that can be told what will be read soon.
type Prefetcher interface {
	// Prefetch asks the system to read the samples of those indices from the disk into the page
	// cache, in the order of their offsets, and does not wait. It is a hint without a result:
	// indices may come in any order and more than once, and invalid ones are skipped. If a few
	// of the samples that it probes are in memory it does nothing, in a few microseconds. It
	// does not keep indices and is safe for concurrent use.
	Prefetch(indices []int32)
}

// Identifier is a Dataset that has no checksums, such as a folder. An interrupted pack resumes if keys,
// sizes and times in Info are unchanged. A Dataset whose Read may give something else then must be an
// Identifier, or be packed with Options.Discard.
type Identifier interface {
	// Identify writes bytes that differ between datasets whose samples have the same keys,
	// sizes and times.
	Identify(w io.Writer) error
}

// Incomplete is a Dataset that may lack samples although their files are there, such as a folder of which
// a part cannot be read. edit.Add asks it before it drops samples. A wrapper that embeds a Dataset as this
// package's interface hides both methods, and must have its own that call them.
type Incomplete interface {
	// Unreadable lists the files and folders that are there but could not be read, as paths like those
	// of Source.Path. Their samples are not known.
	Unreadable() []string
	// Excludes reports whether the file at path is there, but left out by the options that the Dataset
	// was opened with.
	Excludes(path string) bool
}

// StorageOrdered is a Dataset whose samples are not stored in key order.
type StorageOrdered interface {
	// EachStored calls yield with the index of each sample, in the order of their records in the files, and
	// ends with its first error. It takes a few megabytes, and sorts many samples in a temporary file. yield
	// must not close the dataset.
	EachStored(yield func(i int32) error) error
}

// Checker is a Dataset with checksums of its files.
type Checker interface {
	// Check reads portion p of the dataset's files on up to workers goroutines and reports each
	// damaged block. Fewer workers than 1 are 1. The error is about the check itself (a file that cannot be read, a damaged
	// table of checksums), not about the damage it reports. report is not called concurrently.
	Check(ctx context.Context, p Portion, workers int, report func(Damage)) error
	// CheckQuick is Check without reading the data. It verifies the table of checksums, compares
	// it with the files' names and sizes and with the small files that describe the dataset, and
	// compares each record's location with the size of its file.
	CheckQuick(ctx context.Context, report func(Damage)) error
}

// Portion is one of Count about equal portions, with Index from 0; the zero value is the whole.
type Portion struct{ Index, Count int }

// Validate returns an error if there is no such portion.
func (p Portion) Validate() error {
	if p != (Portion{}) && (p.Index < 0 || p.Index >= p.Count) {
		return fmt.Errorf("portion %d of %d: count from 0 to the number of portions minus 1", p.Index, p.Count)
	}
	return nil
}

// Range returns which of n items belong to the portion: from (inclusive) to to (exclusive).
func (p Portion) Range(n int) (from, to int) {
	if p.Count == 0 {
		return 0, n
	}
	return n * p.Index / p.Count, n * (p.Index + 1) / p.Count
}

// Salvager is a Format that can open what is left of a damaged dataset.
type Salvager interface {
	// Salvage is Open that accepts damaged, truncated or missing data files: Info describes
	// all samples, and Read fails with ErrDamaged for those whose bytes are lost. The files
	// that describe the dataset, such as the manifest, must be undamaged.
	Salvage(path string) (Dataset, error)
}

// Damage is a range of a file whose bytes are not those that were written.
type Damage struct {
	File   string // relative to the dataset
	Offset int64  // of the block's first byte
	Length int64
	Cause  string
}

// Writer builds a dataset beside its final path; Commit makes the whole dataset visible at once.
// It belongs to one goroutine.
type Writer interface {
	// Write adds s, one value per field of the schema. It does not keep s. Keys are
	// unique; LMDB and HDF5 require bytewise order (see Ordered).
	Write(s *Sample) error
	// Checkpoint makes the samples written so far durable together with note, which
	// WritableFormat.Resume returns.
	Checkpoint(note []byte) error
	// Commit finishes the dataset and makes it visible at its path.
	Commit() error
	// Close releases the Writer's resources. Before Commit it leaves DST.partial, which Resume
	// continues, and nothing that looks finished. After Commit, or a second time, it does nothing.
	// After Close and after Commit every other method returns ErrClosed.
	Close() error
}

// Saver is a Writer for which the places of the checkpoints decide bytes of the dataset, so that they must be the same
// in every run. Save makes the samples written so far durable together with note, as Checkpoint does, but decides no byte: it
// may come after any sample. After an error of Save what was kept before is still there, and Write fails too if the Writer cannot go on.
// A Writer without Save takes Checkpoint after any sample.
type Saver interface {
	Save(note []byte) error
}

// ShardEnder is a Writer of several files: EndShard ends the current one, the next Write starts
// another. EndShard does nothing if nothing was written to the current file.
type ShardEnder interface {
	EndShard() error
}

// FileReuser is a Writer that can reuse files of the dataset that it replaces, so that a
// dataset can grow without being rewritten.
type FileReuser interface {
	// ReuseFile makes file i of the old dataset, unchanged, file i of the new one. If fewer than
	// i files exist so far, empty files fill the gap. change, if not nil, may alter what only
	// the manifest holds of a sample: its source and, with Traits.LabelsInManifest, label, split
	// and columns.
	ReuseFile(i int, change func(*Info)) error
}

// ShardAdopter is a Writer of several files that can take over files of other datasets, so that shards that several
// processes wrote become one dataset.
type ShardAdopter interface {
	// AdoptShard makes the data file of the finished dataset at path, which has one and was written in this format
	// with the same schema, the next file of this one. The file is linked, or copied where the file system has no hard
	// links; path stays as it is. ErrDamaged if the file is not the one that was written there, judged by its size.
	AdoptShard(path string) error
}

// Format opens one kind of dataset.
type Format interface {
	// Name is the value of --format: "lmdb", "shard", ...
	Name() string
	// Match reports whether path names a dataset of this format, judged by the name and, if
	// that does not decide, by the file or folder at path.
	Match(path string) bool
	// Open opens the dataset at path; fs.ErrNotExist if nothing is there.
	Open(path string) (Dataset, error)
}

// WritableFormat is a Format that can be written.
type WritableFormat interface {
	Format
	// Traits describes what the format requires of the caller of its Writer.
	Traits() Traits
	// Create starts a dataset at path, in a folder that exists (fs.ErrNotExist). ErrExists if there is a finished one, ErrPartial if
	// there is an unfinished one, ErrLocked if another process is writing it.
	Create(path string, m Meta, o CreateOptions) (Writer, error)
	// Resume opens an unfinished dataset as of its last checkpoint and returns that
	// checkpoint's note, nil if there was none. ErrNoPartial if there is no unfinished dataset;
	// ErrPublished if only the last step of Commit was left, which Resume then does.
	Resume(path string, o CreateOptions) (w Writer, m Meta, note []byte, err error)
}

// Traits are what differs between formats for the caller of a Writer.
type Traits struct {
	// Ordered: samples must be written in bytewise order of their keys. Other formats are read
	// sequentially by other programs, so their samples are best written shuffled.
	Ordered bool
	// Sharded: path may be a pattern with %d for several files, and the Writer is a ShardEnder.
	Sharded bool
	// Zstd: CreateOptions.Zstd compresses the files themselves.
	Zstd bool
	// ClassNames: the data files have the name of each sample's class, besides its index.
	ClassNames bool
	// LabelsInManifest: only the manifest holds splits, columns and a designated label of kind
	// Label, so that FileReuser can change them without touching the data.
	LabelsInManifest bool
}

// CreateOptions are the options of a Writer that change the files' bytes but not the samples.
type CreateOptions struct {
	// Zstd is the compression level of the files (1 to 22) if Traits.Zstd; 0 is none.
	Zstd int
	// Replace allows Commit to replace a finished dataset that dsconv wrote.
	Replace bool
	// Memory is the number of bytes that sorting may take, 0 for 256 MiB. What does not fit is sorted on
	// the disk, beside the dataset. The files' bytes do not depend on it.
	Memory int64 `json:"-"`
}

// CheckBuilt returns an error with ErrNotBuilt in its chain if this program was built without the
// writer of f, before anything is written. A format whose writer may be missing has a method
// Built() error that says so.
func CheckBuilt(f WritableFormat) error {
	if b, ok := f.(interface{ Built() error }); ok {
		return b.Built()
	}
	return nil
}

// Unlabeled is a Dataset that knows the label of a sample only once it is read, such as one whose samples a program makes. Info
// has the label NoLabel, and may have an expected Size.
type Unlabeled interface{ Unlabeled() }

// Growing is an Unlabeled Dataset of which not even the number of samples is known. Len is the most that there may be.
// Each sample is read once, in the order of the indices and one at a time, and its key and split are those that Read gives. After
// the last one Read returns ErrEnd. It may also return a *Keep, to ask that what was written be made durable: then Kept is called, and
// the same sample is read again.
type Growing interface {
	Unlabeled
	// Ascending reports whether the keys come in bytewise order.
	Ascending() bool
	// Resumes reports whether the samples can be read from any index on. Else an interrupted pack starts over.
	Resumes() bool
	// Begin is called before the first Read, which is of sample i. state is that of the last Keep before an interruption.
	Begin(i int, state []byte) error
	// Kept is called after a Keep, when all before sample i is durable.
	Kept(i int) error
}

// ErrEnd is the error of a Growing's Read after the last sample.
var ErrEnd = errors.New("there are no more samples")

// Keep is an error of a Growing's Read that is no error of a sample: what was written is to be made durable.
type Keep struct {
	State []byte // what the source wants to know when it goes on from here, or later; stored with the checkpoints
}

func (*Keep) Error() string { return "what was written is to be made durable" }

// Skip is something in a source that is no sample of the dataset, such as a sample without an image.
type Skip struct {
	Path  string `json:"path"`
	Cause string `json:"cause"`
	// Missing: a table, a list or a link names it, and there is no such file.
	Missing bool `json:"-"`
}

// Skipper is a Dataset that knows what its source has besides its samples. A pack counts and lists it.
type Skipper interface {
	// Skips lists what was left out, and why. The caller must not change it.
	Skips() []Skip
}
