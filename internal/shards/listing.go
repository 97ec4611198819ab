package shards

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// The listing is a file beside the plan that has a line of JSON for each sample, in the order of writing. The lines of a
// shard are a zstd frame, so that its process reads these alone, and so that zstdcat shows all.

// listingSuffix is appended to the plan's name.
const listingSuffix = ".samples.zst"

// row is a sample of the listing.
type row struct {
	folder.Listed
	// Checksum is that of the sample, if the source is a dataset that has checksums.
	Checksum string `json:"checksum,omitempty"`
}

// rowOf returns the row of a sample of which only its Info is known.
func rowOf(in *formats.Info) row {
	r := row{Listed: folder.Listed{
		Key: in.Key, Path: in.Source.Path, Size: in.Source.Size, ModTime: in.Source.ModTime, Split: in.Split, Columns: in.Columns,
	}}
	if in.Label != formats.NoLabel {
		r.Labels = []int64{in.Label}
	}
	if in.Checksum != [16]byte{} {
		r.Checksum = hex.EncodeToString(in.Checksum[:])
	}
	return r
}

func (p *Plan) listingFile() string { return p.file + listingSuffix }

// listingWriter writes a listing shard by shard.
type listingWriter struct {
	to   io.Writer
	zstd *zstd.Encoder
	hash *xxh3.Hasher
	end  int64
}

// writeListing writes the listing of n shards; rows calls its argument with the rows of a shard. It returns where
// each shard's are.
func writeListing(f io.Writer, n int, rows func(shard int, yield func(*row) error) error) (parts []Part, err error) {
	to := bufio.NewWriterSize(f, 1<<20)
	w := &listingWriter{to: to, hash: xxh3.New()}
	// One goroutine, so that equal listings have equal bytes.
	if w.zstd, err = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest)); err != nil {
		return nil, err
	}
	for shard := range n {
		part, err := w.shard(func(yield func(*row) error) error { return rows(shard, yield) })
		if err != nil {
			return nil, errors.Join(err, w.zstd.Close())
		}
		parts = append(parts, part)
	}
	return parts, errors.Join(w.zstd.Close(), to.Flush())
}

// Write counts and hashes what the encoder writes.
func (w *listingWriter) Write(b []byte) (int, error) {
	_, _ = w.hash.Write(b)
	w.end += int64(len(b))
	return w.to.Write(b)
}

func (w *listingWriter) shard(rows func(yield func(*row) error) error) (part Part, err error) {
	w.hash.Reset()
	w.zstd.Reset(w)
	err = rows(func(r *row) error {
		if !utf8.ValidString(r.Path) {
			return fmt.Errorf("%q: its path is not UTF-8, which the listing cannot hold: rename the file", r.Path)
		}
		b, err := json.Marshal(r)
		if err != nil {
			return fmt.Errorf("list %s: %w", r.Path, err)
		}
		part.Samples++
		_, err = w.zstd.Write(append(b, '\n'))
		return err
	})
	if err == nil {
		err = w.zstd.Close()
	}
	part.End, part.Hash = w.end, fmt.Sprintf("%016x", w.hash.Sum64())
	return part, err
}

// A listing has at most so many bytes before compression, and so many more for each compressed one: paths, sizes and times
// that differ do not compress further.
const (
	freeListing     = 16 << 20
	maxListingRatio = 200
)

// eachRow calls yield with the samples of a shard, in the order of writing. The row is overwritten by the next one.
func (p *Plan) eachRow(shard int, yield func(*row) error) error {
	b, err := p.frame(shard)
	if err != nil {
		return err
	}
	z, err := zstd.NewReader(bytes.NewReader(b), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	d := json.NewDecoder(io.LimitReader(z, freeListing+maxListingRatio*int64(len(b))))
	for n := 0; ; n++ {
		r := row{}
		switch err := d.Decode(&r); {
		case errors.Is(err, io.EOF) && n == p.Listing[shard].Samples:
			return nil
		case err != nil || n == p.Listing[shard].Samples:
			return fmt.Errorf("%s: shard %d: %w: it has %d readable samples of %d", p.listingFile(), shard, formats.ErrDamaged, n, p.Listing[shard].Samples)
		}
		if err := yield(&r); err != nil {
			return err
		}
	}
}

// frame returns the bytes of a shard in the listing.
func (p *Plan) frame(shard int) ([]byte, error) {
	from, part := int64(0), p.Listing[shard]
	if shard > 0 {
		from = p.Listing[shard-1].End
	}
	damaged := func(why string) error {
		return fmt.Errorf("%s: %w: %s: dsconv shards plan writes it again, with the same options", p.listingFile(), formats.ErrDamaged, why)
	}
	f, err := unblocked.Open(p.listingFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, damaged("the listing of the plan is missing")
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil {
		return nil, err
	} else if from < 0 || part.End < from || part.End > st.Size() {
		return nil, damaged("it is shorter than the plan says")
	}
	b := make([]byte, part.End-from)
	if _, err := f.ReadAt(b, from); err != nil {
		return nil, err
	}
	if fmt.Sprintf("%016x", xxh3.Hash(b)) != part.Hash {
		return nil, damaged(fmt.Sprintf("the samples of shard %d are not those that were written", shard))
	}
	return b, nil
}
