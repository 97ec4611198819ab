package shard

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// dataset is what plain and compressed shards have in common.
type dataset struct {
	*sharded.Records
	slots []slot
}

// plain reads plain shards, from mapped memory.
type plain struct{ dataset }

// compressed reads compressed shards. Each Read decompresses one frame. It is not a Viewer,
// since it has no memory to lend.
type compressed struct {
	dataset
	zstd *zstd.Decoder
	pool sync.Pool // of *[]byte: decompressed records
}

var (
	_ formats.Dataset = (*plain)(nil)
	_ formats.Viewer  = (*plain)(nil)
	_ formats.Checker = (*plain)(nil)
	_ formats.Dataset = (*compressed)(nil)
	_ formats.Checker = (*compressed)(nil)

	_ formats.Salvager = Format{}

	_ formats.Prefetcher     = (*plain)(nil)
	_ formats.Prefetcher     = (*compressed)(nil)
	_ formats.StorageOrdered = (*plain)(nil)
	_ formats.StorageOrdered = (*compressed)(nil)
)

// Open opens the shards at path: a *plain, or a *compressed for .tar.zst.
func (f Format) Open(path string) (formats.Dataset, error) {
	return open(path, sharded.OpenRecords)
}

// Salvage implements formats.Salvager.
func (f Format) Salvage(path string) (formats.Dataset, error) {
	return open(path, sharded.SalvageRecords)
}

func open(path string, records func(path string) (*sharded.Records, error)) (formats.Dataset, error) {
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
	if !isCompressed(path) {
		return &plain{d}, nil
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		_ = r.Close()
		return nil, err
	}
	return &compressed{dataset: d, zstd: z}, nil
}

// checkSuffix rejects a sidecar of another format, and compressed shards that were renamed
// to plain ones or the reverse.
func checkSuffix(path string, r *sharded.Records) error {
	if err := r.CheckFormat(Format{}.Name()); err != nil {
		return err
	}
	for _, name := range r.OriginalNames() {
		if isCompressed(name) != isCompressed(path) {
			return fmt.Errorf("%s: %w: it was written as %s; rename it to a name with that extension", path, formats.ErrNotDataset, name)
		}
	}
	return nil
}

// fill sets s to the sample of row e, decoded from its record.
func (d *dataset) fill(e sampleindex.Entry, rec []byte, s *formats.Sample, lend bool) error {
	if err := e.Fill(s); err != nil {
		return err
	}
	s.Resize(len(d.Meta().Schema))
	if err := decode(d.slots, rec, s, lend); err != nil {
		return err
	}
	if shape := e.Shape(); shape != [3]int{} {
		s.Values[d.slots[0].field].SetShape(shape[:]...)
	}
	return d.VerifyLabel(e, s)
}

// read fills s with a copy of the sample of row e and compares it with its checksum.
func (d *dataset) read(e sampleindex.Entry, rec []byte, s *formats.Sample) error {
	if err := d.fill(e, rec, s, false); err != nil {
		return err
	}
	return d.VerifyChecksum(s)
}

// Read fills s with a copy of sample i.
func (d *plain) Read(i int, s *formats.Sample) error {
	return d.ReadRecord(i, func(e sampleindex.Entry, rec []byte) error {
		return guard.Do(func() error { return d.read(e, rec, s) })
	})
}

// View fills s with sample i in mapped memory; only labels are copied.
func (d *plain) View(i int, s *formats.Sample) error {
	return d.ViewRecord(i, func(e sampleindex.Entry, rec []byte) error { return d.fill(e, rec, s, true) })
}

// Read fills s with sample i, decompressed.
func (d *compressed) Read(i int, s *formats.Sample) error {
	buf, _ := d.pool.Get().(*[]byte)
	if buf == nil {
		buf = new([]byte)
	}
	defer func() {
		if cap(*buf) <= maxRecord/4 {
			d.pool.Put(buf)
		}
	}()
	return d.ReadRecord(i, func(e sampleindex.Entry, frame []byte) error {
		return guard.Do(func() (err error) {
			if *buf, err = decompress(d.zstd, frame, *buf); err != nil {
				return err
			}
			return d.read(e, *buf, s)
		})
	})
}

// Bounds of the size of a record: in bytes, and as a multiple of its frame. Only images of one
// colour compress better.
const (
	maxRecord   = 256 << 20
	recordRatio = 256
)

// decompress returns the frame's content, in dst's memory if that is enough. The declared size
// must be one that zstd can expand to, 128 KiB for each block of at least 4 bytes, and one that a
// record may have; z must be limited to the capacity of the slice that it is given.
func decompress(z *zstd.Decoder, frame, dst []byte) ([]byte, error) {
	var h zstd.Header
	if err := h.Decode(frame); err != nil {
		return dst, formats.WrapDamaged(err)
	}
	if !h.HasFCS || h.FrameContentSize > min(uint64(len(frame)/4+1)<<17, uint64(max(maxRecord, recordRatio*len(frame)))) {
		return dst, fmt.Errorf("%w: a zstd frame of %d bytes declares a content of %d", formats.ErrDamaged, len(frame), h.FrameContentSize)
	}
	dst, err := z.DecodeAll(frame, slices.Grow(dst[:0], int(h.FrameContentSize)))
	if err != nil {
		return dst, formats.WrapDamaged(err)
	}
	return dst, nil
}
