package mds

import (
	"bytes"
	"compress/bzip2"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/foreign"
	"github.com/dsconv/dsconv/internal/unblocked"
)

const (
	indexName = "index.json"
	maxIndex  = 256 << 20
	maxFiles  = 1 << 20
)

// index is the content of index.json.
type index struct {
	Version int     `json:"version"`
	Shards  []shard `json:"shards"`
}

// shard describes a data file.
type shard struct {
	Names       []string  `json:"column_names"`
	Encodings   []string  `json:"column_encodings"`
	Sizes       []*int64  `json:"column_sizes"`
	Compression string    `json:"compression"`
	Format      string    `json:"format"`
	Raw         *basename `json:"raw_data"`
	Zip         *basename `json:"zip_data"`
	Samples     int64     `json:"samples"`
	Version     int       `json:"version"`

	split string
	first int64 // number of its first sample in the split
}

// basename names a file of a shard.
type basename struct {
	Name  string `json:"basename"`
	Bytes int64  `json:"bytes"`
}

// isInside reports whether the file is below its folder.
func (b *basename) isInside() bool {
	return b != nil && filepath.IsLocal(b.Name) && !strings.ContainsRune(b.Name, 0)
}

// set is a dataset: the shards of all its splits.
type set struct {
	columns []column
	shards  []shard
	files   []foreign.File
	texts   []byte // of the indexes
	samples map[string]int64
}

// column is one that all samples have.
type column struct {
	name, encoding string
	size           int64 // 0 if it is stored with each sample
}

// isIndex reports whether the folder has an index of MDS shards, judged by its beginning.
func isIndex(dir string) bool {
	f, err := unblocked.Open(filepath.Join(dir, indexName))
	if err != nil {
		return false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || !st.Mode().IsRegular() {
		return false
	}
	head, err := io.ReadAll(io.LimitReader(f, 64<<10))
	return err == nil && bytes.Contains(head, []byte(`"column_encodings"`)) && bytes.Contains(head, []byte(`"mds"`))
}

// splitsOf lists the folders of a dataset: itself as "", or those in it that have an index.
func splitsOf(dir string) []string {
	if isIndex(dir) {
		return []string{""}
	}
	f, err := unblocked.Open(dir)
	if err != nil {
		return nil
	}
	defer f.Close()
	entries, err := f.ReadDir(maxSplits + 1) // a folder of images may have a million
	if err != nil || len(entries) > maxSplits {
		return nil
	}
	var splits []string
	for _, e := range entries {
		if e.IsDir() && formats.CheckSplit(e.Name()) == nil && isIndex(filepath.Join(dir, e.Name())) {
			splits = append(splits, e.Name())
		}
	}
	slices.Sort(splits)
	return splits
}

// maxSplits is the most files and folders in a dataset's folder beside its index.
const maxSplits = 64

// readSet reads the indexes of the dataset at dir.
func readSet(dir string) (*set, error) {
	s := &set{samples: map[string]int64{}}
	splits := splitsOf(dir)
	if len(splits) == 0 {
		if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
			return nil, formats.NotFound(dir)
		}
		return nil, fmt.Errorf("%s: %w: there is no %s of MDS shards in it, nor in a folder in it", dir, formats.ErrNotDataset, indexName)
	}
	for _, split := range splits {
		if err := s.add(filepath.Join(dir, split), split); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// add adds the shards of a split.
func (s *set) add(dir, split string) error {
	path := filepath.Join(dir, indexName)
	f, err := unblocked.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxIndex+1))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	var x index
	if len(text) > maxIndex {
		return fmt.Errorf("%s: %w: it has more than %d bytes", path, formats.ErrDamaged, maxIndex)
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return fmt.Errorf("%s: %w: %w", path, formats.ErrDamaged, err)
	}
	if len(x.Shards) == 0 || len(x.Shards)+len(s.shards) > maxFiles {
		return fmt.Errorf("%s: %w: it has %d shards", path, formats.ErrDamaged, len(x.Shards))
	}
	s.texts = append(append(s.texts, text...), 0)
	for k, one := range x.Shards {
		if err := s.addShard(dir, split, one); err != nil {
			return fmt.Errorf("%s: shard %d: %w", path, k, err)
		}
	}
	return nil
}

func (s *set) addShard(dir, split string, one shard) error {
	switch {
	case one.Format != "mds" || one.Version != 2:
		return fmt.Errorf("%w: its format is %q in version %d, and dsconv reads mds in version 2", formats.ErrNotDataset, one.Format, one.Version)
	case !one.Raw.isInside():
		return fmt.Errorf("%w: the name of its file leads out of the folder, or it has none", formats.ErrDamaged)
	case one.Samples < 0 || one.Raw.Bytes < 0:
		return fmt.Errorf("%w: it has %d samples and %d bytes", formats.ErrDamaged, one.Samples, one.Raw.Bytes)
	}
	columns, err := one.columns()
	if err != nil {
		return err
	}
	if s.columns == nil {
		s.columns = columns
	}
	if !slices.Equal(s.columns, columns) {
		return fmt.Errorf("%w: its columns are %v, those of the first shard %v", formats.ErrSchema, columns, s.columns)
	}
	file, err := one.file(dir)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file.Path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its file %s is missing: copy or download it again: %w", file.Name, fs.ErrNotExist)
	}
	one.split, one.first = split, s.samples[split]
	if s.samples[split] += one.Samples; s.samples[split] >= 1<<31 {
		return fmt.Errorf("%w: a dataset has at most %d samples", formats.ErrSchema, int64(1)<<31-1)
	}
	s.shards = append(s.shards, one)
	file.Name = filepath.ToSlash(filepath.Join(split, file.Name))
	file.Stem = strings.TrimSuffix(filepath.ToSlash(filepath.Join(split, one.Raw.Name)), ".mds")
	s.files = append(s.files, file)
	return nil
}

// maxColumns is the most columns of a dataset.
const maxColumns = 1000

// columns returns the columns of a shard.
func (s *shard) columns() (columns []column, err error) {
	n := len(s.Names)
	if n == 0 || n > maxColumns || len(s.Encodings) != n || len(s.Sizes) != n {
		return nil, fmt.Errorf("%w: it has %d columns, %d encodings and %d sizes", formats.ErrDamaged, n, len(s.Encodings), len(s.Sizes))
	}
	for k, name := range s.Names {
		c := column{name: name, encoding: s.Encodings[k]}
		if size := s.Sizes[k]; size != nil {
			if c.size = *size; c.size < 0 {
				return nil, fmt.Errorf("%w: the column %q has %d bytes", formats.ErrDamaged, name, c.size)
			}
		}
		if slices.ContainsFunc(columns, func(other column) bool { return other.name == name }) {
			return nil, fmt.Errorf("%w: two columns are named %q", formats.ErrDamaged, name)
		}
		columns = append(columns, c)
	}
	return columns, nil
}

// maxWindow is the largest window of zstd: its memory.
const maxWindow = 128 << 20

// unpackers decompress what the library compressed as a whole, by the name in index.json.
var unpackers = map[string]func(io.Reader) (io.ReadCloser, error){
	"gz":  func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
	"bz2": func(r io.Reader) (io.ReadCloser, error) { return io.NopCloser(bzip2.NewReader(r)), nil },
	"zstd": func(r io.Reader) (io.ReadCloser, error) {
		z, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow))
		if err != nil {
			return nil, err
		}
		return z.IOReadCloser(), nil
	},
}

// file returns the data file of a shard: the plain one if it is there, else the one that is compressed as a whole.
func (s *shard) file(dir string) (foreign.File, error) {
	f := foreign.File{Path: filepath.Join(dir, filepath.FromSlash(s.Raw.Name)), Name: s.Raw.Name}
	if s.Compression == "" {
		return f, nil
	}
	if _, err := os.Stat(f.Path); !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	method, _, _ := strings.Cut(s.Compression, ":") // "zstd:7"
	unpack := unpackers[method]
	switch {
	case !s.Zip.isInside():
		return f, fmt.Errorf("%w: the name of its compressed file leads out of the folder, or it has none", formats.ErrDamaged)
	case unpack == nil:
		return f, fmt.Errorf("%s: %w: it is compressed by %q, and dsconv reads zstd, gz and bz2: let the streaming library decompress it (keep_zip), or write it again",
			filepath.Join(dir, s.Zip.Name), formats.ErrNotDataset, s.Compression)
	}
	return foreign.File{Path: filepath.Join(dir, filepath.FromSlash(s.Zip.Name)), Name: s.Zip.Name, Unpack: unpack, Size: s.Raw.Bytes}, nil
}
