package manifest

import (
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/parquet-go/parquet-go/format"
	"golang.org/x/sync/errgroup"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

// readManifest reads the manifest in b and does not keep b. columns are the user's columns
// that it must have (Meta.Columns); others are skipped. ErrDamaged unless the file is as
// WriteParquet writes it: flat, without nulls, each column in its one encoding.
//
// A malicious file may declare sizes larger than its content, and running out of memory cannot
// be recovered from. Therefore parquet-go only writes manifests; this reader allocates nothing
// on the basis of a declared size alone. The keys are read first, page by page: there are as
// many rows as there are different keys, in order. The other fixed-size columns then take 250
// bytes per row, half of them only until all are read.
// A page has at most maxPage bytes before compression, and not more than Zstandard can expand
// to; pages do not overlap. All strings together have at most maxText bytes, or textRatio times
// the file's size.
func readManifest(b []byte, columns []string) (*Manifest, error) {
	t := NewManifest(slices.Clone(columns))
	c := &columnSet{manifest: t}
	reads := c.reads()
	wanted := []string{"key"}
	for _, r := range reads {
		wanted = append(wanted, r.name)
	}
	f, err := parseFooter(b, wanted, "edited", "origin")
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w: %w", formats.ErrDamaged, err)
	}
	r := manifestReader{footer: f, size: len(b), what: "the manifest"}
	reads = append(reads, c.provenance(f)...)
	if err := r.checkText(reads); err != nil {
		return nil, err
	}
	if err := r.column("key", func(chunks []chunk) error { return r.keys(chunks, &c.key) }); err != nil {
		return nil, err
	}
	// A column's pages are decoded one by one; there are enough columns for every core.
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, column := range reads {
		g.Go(func() error {
			return guard.For("read the manifest: "+column.name, func() error {
				return r.column(column.name, func(chunks []chunk) error { return column.read(&r, chunks) })
			})
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	return t, c.toRows()
}

// Bounds of the size of all strings: in bytes, and as a multiple of the file's size. Each row
// has two hashes that do not compress, so real manifests stay below them.
const (
	maxText   = 256 << 20
	textRatio = 32
)

// checkText returns an error if the strings would take too much memory.
func (r *manifestReader) checkText(reads []columnRead) error {
	total := pageBytes(r.chunks["key"])
	for _, c := range reads {
		if c.strings {
			total += pageBytes(r.chunks[c.name])
		}
	}
	if total > max(maxText, textRatio*r.size) {
		return fmt.Errorf("read %s: %w: its %d bytes declare strings of %d bytes", r.what, formats.ErrDamaged, r.size, total)
	}
	return nil
}

// pageBytes returns the declared size of the chunks' pages before compression.
func pageBytes(chunks []chunk) (total int) {
	for _, c := range chunks {
		for b := c.pages; len(b) > 0; {
			p, rest, err := nextPage(b)
			if err != nil {
				break // eachPage reports it
			}
			total, b = total+p.size, rest
		}
	}
	return total
}

// columnRead is a column of the manifest and the function that reads its chunks.
type columnRead struct {
	name    string
	strings bool
	read    func(r *manifestReader, chunks []chunk) error
}

// columnSet holds the file's columns until they become the rows of a Manifest.
type columnSet struct {
	manifest *Manifest // the user's columns are read directly into it

	key, path      stringColumn
	split, enc     dictColumn
	label          []int64
	shard          []int32
	offset, length []int64
	h, w, c        []int32
	size           []int64
	checksum, hash [][16]byte
	srcSize, mod   []int64
	edited, origin []int32 // nil if the file has no such columns
}

// reads lists all columns but the key, slow ones first.
func (t *columnSet) reads() []columnRead {
	var reads []columnRead
	text := func(name string, c *stringColumn) {
		reads = append(reads, columnRead{name, true, func(r *manifestReader, chunks []chunk) error { return r.text(chunks, c) }})
	}
	hash := func(name string, c *[][16]byte) {
		reads = append(reads, columnRead{name, false, func(r *manifestReader, chunks []chunk) error { return r.hashes(chunks, c) }})
	}
	text("source_path", &t.path)
	for j, name := range t.manifest.Columns {
		text(userPrefix+name, &t.manifest.user[j])
	}
	hash("checksum", &t.checksum)
	hash("source_hash", &t.hash)
	for name, c := range map[string]*[]int64{
		"label": &t.label, "offset": &t.offset, "length": &t.length, "size": &t.size,
		"source_size": &t.srcSize, "source_mtime_ns": &t.mod,
	} {
		reads = append(reads, columnRead{name, false, func(r *manifestReader, chunks []chunk) error { return readInts(r, chunks, c) }})
	}
	for name, c := range map[string]*[]int32{"shard": &t.shard, "height": &t.h, "width": &t.w, "channels": &t.c} {
		reads = append(reads, columnRead{name, false, func(r *manifestReader, chunks []chunk) error { return readInts(r, chunks, c) }})
	}
	for name, c := range map[string]*dictColumn{"split": &t.split, "encoding": &t.enc} {
		reads = append(reads, columnRead{name, true, func(r *manifestReader, chunks []chunk) error { return r.dictStrings(chunks, c) }})
	}
	return reads
}

// provenance lists the columns of Provenance, which most files do not have.
func (t *columnSet) provenance(f *footer) []columnRead {
	var reads []columnRead
	for name, c := range map[string]*[]int32{"edited": &t.edited, "origin": &t.origin} {
		if len(f.chunks[name]) > 0 {
			reads = append(reads, columnRead{name, false, func(r *manifestReader, chunks []chunk) error { return readInts(r, chunks, c) }})
		}
	}
	return reads
}

// toRows builds the manifest's rows from the columns, which all have the same length. It reads
// the columns in parallel order, so that each row is written once.
func (t *columnSet) toRows() error {
	n := len(t.key.end)
	t.manifest.keys, t.manifest.paths = t.key.data, t.path.data
	t.manifest.splits, t.manifest.encodings = t.split.values, t.enc.values
	for _, name := range t.split.values {
		if err := checkStoredSplit(name); err != nil {
			return fmt.Errorf("read the manifest: %w", err)
		}
	}
	t.manifest.rows.reserve(n)
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k, chunk := range t.manifest.rows.chunks {
		g.Go(func() error {
			return guard.For("read the manifest", func() error {
				for j := range chunk {
					t.row(k*chunkRows+j, &chunk[j])
				}
				return nil
			})
		})
	}
	return g.Wait()
}

func (t *columnSet) row(i int, r *row) {
	keyAt, keyEnd := t.key.bounds(i)
	pathAt, pathEnd := t.path.bounds(i)
	*r = row{
		keyAt: keyAt, keyLen: uint32(keyEnd - keyAt), pathAt: pathAt, pathLen: uint32(pathEnd - pathAt),
		split: t.split.index[i], encoding: t.enc.index[i], label: t.label[i], size: t.size[i],
		shard: t.shard[i], offset: t.offset[i], length: t.length[i], shape: [3]int32{t.h[i], t.w[i], t.c[i]},
		checksum: t.checksum[i], hash: t.hash[i], srcSize: t.srcSize[i], mod: t.mod[i],
	}
	if t.edited != nil {
		r.provenance.Edited = uint16(t.edited[i])
	}
	if t.origin != nil {
		r.provenance.Origin = uint16(t.origin[i])
	}
}

// manifestReader reads the columns of a file of size bytes. Columns may be read concurrently.
type manifestReader struct {
	*footer
	size int
	what string // the file's name in errors
}

func (r *manifestReader) column(name string, read func([]chunk) error) error {
	if err := read(r.chunks[name]); err != nil {
		return fmt.Errorf("read %s: column %s: %w: %w", r.what, name, formats.ErrDamaged, err)
	}
	return nil
}

// shortPage bounds pages of keys and dictionaries: the keys of a write are half a MiB.
const shortPage = 4 << 20

var errOrder = errors.New("the keys are not in order")

func (r *manifestReader) keys(chunks []chunk, c *stringColumn) error {
	r.reserve(chunks, c)
	var lengths []int32
	limit := func(*page) int { return shortPage }
	return eachPage(chunks, format.DeltaLengthByteArray, limit, func(p *page, b []byte) error {
		if p.values > len(b) { // at least a byte each
			return fmt.Errorf("%d keys in %d bytes", p.values, len(b))
		}
		checked := len(c.end)
		if err := c.decodeStrings(p.values, b, &lengths); err != nil {
			return err
		}
		for i := max(checked, 1); i < len(c.end); i++ {
			if c.at(i-1) >= c.at(i) {
				return fmt.Errorf("row %d: %w", i, errOrder)
			}
		}
		return nil
	})
}

func (r *manifestReader) text(chunks []chunk, c *stringColumn) error {
	r.reserve(chunks, c)
	var lengths []int32
	limit := func(*page) int { return maxPage }
	return eachPage(chunks, format.DeltaLengthByteArray, limit, func(p *page, b []byte) error {
		return c.decodeStrings(p.values, b, &lengths)
	})
}

// reserve allocates memory for the strings that the chunks declare, but not more than files of
// that size usually need.
func (r *manifestReader) reserve(chunks []chunk, c *stringColumn) {
	c.data = make([]byte, 0, min(pageBytes(chunks), 8*r.size))
	c.end = make([]uint64, 0, min(r.rows, r.size))
	mapped.AdviseHugePages(c.data)
	mapped.AdviseHugePages(c.end)
}

func (r *manifestReader) hashes(chunks []chunk, c *[][16]byte) error {
	*c = make([][16]byte, r.rows)
	mapped.AdviseHugePages(*c)
	to := *c
	limit := func(p *page) int { return 16 * p.values }
	return eachPage(chunks, format.Plain, limit, func(p *page, b []byte) error {
		if len(b) != 16*p.values {
			return fmt.Errorf("%d hashes of %d bytes", p.values, len(b))
		}
		for i := range to[:p.values] {
			to[i] = [16]byte(b[16*i:])
		}
		to = to[p.values:]
		return nil
	})
}

func readInts[T int32 | int64](r *manifestReader, chunks []chunk, c *[]T) error {
	*c = make([]T, r.rows)
	mapped.AdviseHugePages(*c)
	to := *c
	// A value has at most 64 bits. Each block of 128 values begins with its minimum and four
	// widths, and the last block is padded.
	limit := func(p *page) int { return 9*p.values + 512 }
	return eachPage(chunks, format.DeltaBinaryPacked, limit, func(p *page, b []byte) error {
		_, err := decodeDelta(to[:p.values], b)
		to = to[p.values:]
		return err
	})
}

func (r *manifestReader) dictStrings(chunks []chunk, c *dictColumn) error {
	c.index = make([]uint16, r.rows)
	mapped.AdviseHugePages(c.index)
	to := c.index
	indexOf := map[string]uint16{}
	var dictionary []uint16 // the chunk's, as indexes of c.values
	limit := func(p *page) int {
		if p.kind == int64(format.DictionaryPage) {
			return shortPage
		}
		return 16*p.values + 64
	}
	return eachPage(chunks, format.RLEDictionary, limit, func(p *page, b []byte) (err error) {
		if p.kind == int64(format.DictionaryPage) {
			dictionary, err = c.decodeDictionary(p.values, b, indexOf)
			return err
		}
		err = decodeIndexes(to[:p.values], b, dictionary)
		to = to[p.values:]
		return err
	})
}
