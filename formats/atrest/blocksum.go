package atrest

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"github.com/dsconv/dsconv/formats"
)

// BlockSize is the number of bytes that one checksum covers.
const BlockSize = 1 << 20

const sumsMagic = "DSCSUMS1"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// FileSums are the CRC-32C checksums of one file's blocks; the last block may be short.
type FileSums struct {
	Name   string // relative to the dataset, '/'-separated
	Size   int64
	Blocks []uint32
}

// Sums are the checksums of all files of a dataset.
type Sums []FileSums

// Encode lays the table out: magic, files, blocks, and a CRC-32C of all that.
func (s Sums) Encode() []byte {
	b := []byte(sumsMagic)
	b = binary.AppendUvarint(b, uint64(len(s)))
	for _, f := range s {
		b = binary.AppendUvarint(b, uint64(len(f.Name)))
		b = append(b, f.Name...)
		b = binary.AppendUvarint(b, uint64(f.Size))
		for _, x := range f.Blocks {
			b = binary.LittleEndian.AppendUint32(b, x)
		}
	}
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// DecodeSums reads what Encode wrote. ErrDamaged if the table does not check itself.
func DecodeSums(b []byte) (Sums, error) {
	bad := fmt.Errorf("%w: the table of block checksums does not check", formats.ErrDamaged)
	if len(b) < len(sumsMagic)+4 || !bytes.HasPrefix(b, []byte(sumsMagic)) {
		return nil, bad
	}
	body := b[:len(b)-4]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(b[len(b)-4:]) {
		return nil, bad
	}
	r := &cursor{b: body[len(sumsMagic):]}
	n := r.length(1)
	s := make(Sums, 0, n)
	for range n {
		f := FileSums{Name: string(r.bytes()), Size: r.varint()}
		blocks := (f.Size + BlockSize - 1) / BlockSize
		if f.Size < 0 || blocks > int64(len(r.b)/4) {
			return nil, bad
		}
		f.Blocks = make([]uint32, blocks)
		for i := range f.Blocks {
			f.Blocks[i] = r.uint32()
		}
		s = append(s, f)
	}
	if r.failed || len(r.b) != 0 {
		return nil, bad
	}
	return s, nil
}

// SumFile reads the file at path and computes its checksums under name. limit, if not
// negative, is the number of bytes to cover.
func SumFile(path, name string, limit int64) (FileSums, error) {
	f, err := os.Open(path)
	if err != nil {
		return FileSums{}, err
	}
	defer f.Close()
	fs := FileSums{Name: name}
	var src io.Reader = f
	if limit >= 0 {
		src = io.LimitReader(f, limit)
	}
	buf := make([]byte, BlockSize)
	for {
		n, err := io.ReadFull(src, buf)
		if n > 0 {
			fs.Size += int64(n)
			fs.Blocks = append(fs.Blocks, crc32.Checksum(buf[:n], castagnoli))
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			return fs, nil
		case err != nil:
			return FileSums{}, err
		}
	}
}

// Check compares the files under dir with the table on up to workers goroutines and
// reports each damaged block, a missing file and a file of another size. tail is the
// number of bytes that may follow the last covered one (the table itself, in a single
// file). report is not called concurrently.
func (s Sums) Check(ctx context.Context, dir string, tail int64, workers int, report func(formats.Damage)) error {
	var mu sync.Mutex
	locked := func(d formats.Damage) {
		mu.Lock()
		defer mu.Unlock()
		report(d)
	}
	for _, fs := range s {
		if err := fs.check(ctx, filepath.Join(dir, filepath.FromSlash(fs.Name)), tail, workers, locked); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// CheckSizes is Check by the files' names and sizes alone.
func (s Sums) CheckSizes(dir string, tail int64, report func(formats.Damage)) error {
	for _, fs := range s {
		st, err := os.Stat(filepath.Join(dir, filepath.FromSlash(fs.Name)))
		switch {
		case errors.Is(err, os.ErrNotExist):
			report(fs.missing())
		case err != nil:
			return err
		case st.Size() != fs.Size+tail:
			report(fs.resized(st.Size(), tail))
		}
	}
	return nil
}

func (fs FileSums) missing() formats.Damage {
	return formats.Damage{File: fs.Name, Length: fs.Size, Cause: "the file is missing"}
}

func (fs FileSums) resized(size, tail int64) formats.Damage {
	return formats.Damage{
		File: fs.Name, Offset: min(size, fs.Size), Length: max(size, fs.Size+tail) - min(size, fs.Size),
		Cause: fmt.Sprintf("the file has %d bytes, %d were written", size, fs.Size+tail),
	}
}

func (fs FileSums) check(ctx context.Context, path string, tail int64, workers int, report func(formats.Damage)) error {
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		report(fs.missing())
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	if st.Size() != fs.Size+tail {
		report(fs.resized(st.Size(), tail))
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for range max(1, min(workers, len(fs.Blocks))) {
		wg.Go(func() {
			buf := make([]byte, BlockSize)
			for ctx.Err() == nil {
				i := next.Add(1) - 1
				if i >= int64(len(fs.Blocks)) {
					return
				}
				fs.checkBlock(f, i, buf, report)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

func (fs FileSums) checkBlock(f *os.File, i int64, buf []byte, report func(formats.Damage)) {
	off := i * BlockSize
	buf = buf[:min(BlockSize, fs.Size-off)]
	cause := "the checksum differs"
	n, err := f.ReadAt(buf, off)
	switch {
	case errors.Is(err, io.EOF) && n < len(buf):
		cause = "the file ends before"
	case err != nil && !errors.Is(err, io.EOF):
		cause = err.Error()
	case crc32.Checksum(buf, castagnoli) == fs.Blocks[i]:
		return
	}
	report(formats.Damage{File: fs.Name, Offset: off, Length: int64(len(buf)), Cause: cause})
}
