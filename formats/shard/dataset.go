package shard

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
	"github.com/dsconv/dsconv/internal/guard"
)

// dataset is what plain and compressed shards have in common.
type dataset struct {
	*atrest.Records
	slots []slot
}

// Dataset reads plain shards, from mapped memory.
type Dataset struct{ dataset }

// Compressed reads compressed shards. Each Read decompresses one frame; there is nothing
// to lend, so it is no Viewer.
type Compressed struct {
	dataset
	zstd *zstd.Decoder
	pool sync.Pool // of *[]byte: decompressed records
}

var (
	_ formats.Dataset = (*Dataset)(nil)
	_ formats.Viewer  = (*Dataset)(nil)
	_ formats.Checker = (*Dataset)(nil)
	_ formats.Dataset = (*Compressed)(nil)
	_ formats.Checker = (*Compressed)(nil)

	_ formats.Salvager = Format{}

	_ formats.Prefetcher     = (*Dataset)(nil)
	_ formats.Prefetcher     = (*Compressed)(nil)
	_ formats.StorageOrdered = (*Dataset)(nil)
	_ formats.StorageOrdered = (*Compressed)(nil)
)

// Open opens the shards at path: a *Dataset, or a *Compressed for .tar.zst.
func (f Format) Open(path string) (formats.Dataset, error) {
	return open(path, atrest.OpenRecords)
}

// Salvage implements formats.Salvager.
func (f Format) Salvage(path string) (formats.Dataset, error) {
	return open(path, atrest.SalvageRecords)
}

func open(path string, records func(path string) (*atrest.Records, error)) (formats.Dataset, error) {
	r, err := records(path)
	if err != nil {
		return nil, err
	}
	d := dataset{Records: r}
	if err := checkSuffix(path, r); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	if d.slots, err = layoutOf(r.Meta()); err != nil {
		_ = r.Close()
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	if !strings.HasSuffix(path, compressedSuffix) {
		return &Dataset{d}, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &Compressed{dataset: d, zstd: z}, nil
}

// checkKind refuses the description of another format's dataset, and compressed shards that
// were given the name of plain ones, or the other way round.
func checkSuffix(path string, r *atrest.Records) error {
	if err := r.CheckFormat(Format{}.Name()); err != nil {
		return err
	}
	for _, name := range r.OriginalNames() {
		if strings.HasSuffix(name, compressedSuffix) != strings.HasSuffix(path, compressedSuffix) {
			return fmt.Errorf("%s: %w: it was written as %s: give it a name with that ending", path, formats.ErrNotDataset, name)
		}
	}
	return nil
}

// fill makes s the sample of row i from its record.
func (d *dataset) fill(i int, rec []byte, s *formats.Sample, lend bool) error {
	d.Manifest.Fill(i, s)
	s.Resize(len(d.Meta().Schema))
	if err := decode(d.slots, rec, s, lend); err != nil {
		return err
	}
	if shape := d.Manifest.Shape(i); shape != [3]int{} {
		img := &s.Values[d.slots[0].field]
		img.Shape = append(img.Shape[:0], shape[:]...)
	}
	return d.VerifyLabel(i, s)
}

// read fills s with a copy of the sample of row i and compares it with its checksum.
func (d *dataset) read(i int, rec []byte, s *formats.Sample) error {
	if err := d.fill(i, rec, s, false); err != nil {
		return err
	}
	return d.VerifyChecksum(s)
}

// Read fills s with a copy of sample i.
func (d *Dataset) Read(i int, s *formats.Sample) error {
	return d.WithRecord(i, func(rec []byte) error {
		return guard.Do(func() error { return d.read(i, rec, s) })
	})
}

// View fills s with sample i in mapped memory; labels alone are the caller's.
func (d *Dataset) View(i int, s *formats.Sample) error {
	return d.WithRecord(i, func(rec []byte) error { return d.fill(i, rec, s, true) })
}

// Read fills s with sample i, decompressed.
func (d *Compressed) Read(i int, s *formats.Sample) error {
	buf, _ := d.pool.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer func() {
		if cap(*buf) <= maxRecord/4 {
			d.pool.Put(buf)
		}
	}()
	return d.WithRecord(i, func(frame []byte) error {
		return guard.Do(func() (err error) {
			if *buf, err = decompress(d.zstd, frame, *buf); err != nil {
				return err
			}
			return d.read(i, *buf, s)
		})
	})
}

// Close frees the decoder and unmaps the files.
func (d *Compressed) Close() error {
	d.zstd.Close()
	return d.dataset.Close()
}

// A record may be of so many bytes, or so many times its frame: what compresses better are
// pixels of one colour.
const (
	maxRecord   = 256 << 20
	recordRatio = 256
)

// decompress gives what the frame holds, in dst's memory if that is enough. The frame's
// claimed size must be one that zstd can reach, 128 KiB for each block of at least 4 bytes, and
// that a record may have; z must be limited to the memory that it is given.
func decompress(z *zstd.Decoder, frame, dst []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return dst, formats.WrapDamaged(err)
	}
	if !h.HasFCS || h.FrameContentSize > min(uint64(len(frame)/4+1)<<17, uint64(max(maxRecord, recordRatio*len(frame)))) {
		return dst, fmt.Errorf("%w: a frame of %d bytes that claims to hold %d", formats.ErrDamaged, len(frame), h.FrameContentSize)
	}
	dst, err := z.DecodeAll(frame, slices.Grow(dst[:0], int(h.FrameContentSize)))
	if err != nil {
		return dst, formats.WrapDamaged(err)
	}
	return dst, nil
}
