package checksum

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Check compares portion p of the files under dir with the table on up to workers goroutines.
// It reports damaged blocks, missing files, files of another size and blocks that the disk
// cannot read. tail is the number of bytes that follow the last covered one (the table
// itself, in a single file). The error is ctx's or about a file that cannot be opened.
// report is not called concurrently.
func (s Checksums) Check(ctx context.Context, dir string, tail int64, p formats.Portion, workers int, report func(formats.Damage)) error {
	var spans []span
	for i := range s {
		reportSize := report
		if p.Index > 0 {
			reportSize = func(formats.Damage) {} // the first portion has reported it
		}
		size, err := s[i].checkSize(dir, tail, reportSize)
		if err != nil {
			return err
		}
		blocks := (min(size, s[i].Size) + BlockSize - 1) / BlockSize
		for from := int64(0); from < blocks; from += spanBlocks {
			spans = append(spans, span{i, from, min(from+spanBlocks, blocks)})
		}
	}
	from, to := p.Range(len(spans))
	spans = spans[from:to]
	sc := &scanner{checksums: s, dir: dir, spans: spans, report: report}
	var wg sync.WaitGroup
	for range max(1, min(workers, len(spans))) {
		wg.Go(func() { sc.work(ctx) })
	}
	wg.Wait()
	return errors.Join(sc.failed, ctx.Err())
}

// CheckQuick is Check of only the names and sizes of the data files, for which data returns true,
// and of the other files, the small ones that describe the dataset.
func (s Checksums) CheckQuick(ctx context.Context, dir string, data func(name string) bool, report func(formats.Damage)) error {
	var small Checksums
	for _, fs := range s {
		if !data(fs.Name) {
			small = append(small, fs)
		} else if _, err := fs.checkSize(dir, 0, report); err != nil {
			return err
		}
	}
	return small.Check(ctx, dir, 0, formats.Portion{}, 1, report)
}

func (fs FileChecksums) path(dir string) string {
	return filepath.Join(dir, filepath.FromSlash(fs.Name))
}

// checkSize returns the file's size, and reports if the file is missing or has another size
// than was written.
func (fs FileChecksums) checkSize(dir string, tail int64, report func(formats.Damage)) (size int64, err error) {
	st, err := os.Stat(fs.path(dir))
	switch {
	case errors.Is(err, os.ErrNotExist):
		report(formats.Damage{File: fs.Name, Length: fs.Size, Cause: "the file is missing"})
		return 0, nil
	case errors.Is(err, unix.EIO):
		report(formats.Damage{File: fs.Name, Length: fs.Size, Cause: err.Error()})
		return 0, nil
	case err != nil:
		return 0, err
	case st.Size() != fs.Size+tail:
		report(formats.Damage{
			File: fs.Name, Offset: min(st.Size(), fs.Size), Length: max(st.Size(), fs.Size+tail) - min(st.Size(), fs.Size),
			Cause: fmt.Sprintf("the file has %d bytes, but %d were written", st.Size(), fs.Size+tail),
		})
	}
	return st.Size(), nil
}

// MaybeSame reports whether the file at path, which has another name than was written, may be
// this file, perhaps damaged: it has the written size or one of the written blocks, or it is
// empty, so that nothing could be lost.
func (fs FileChecksums) MaybeSame(path string, size int64) bool {
	if size == 0 || size == fs.Size {
		return true
	}
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	block := make([]byte, BlockSize)
	for i := int64(0); (i+1)*BlockSize <= min(size, fs.Size); i++ {
		if cause, err := checkBlock(f, i*BlockSize, block, fs.Blocks[i]); cause == "" && err == nil {
			return true
		}
	}
	return false
}

// span is a range of blocks of one file that one goroutine reads.
type span struct {
	file     int
	from, to int64 // blocks
}

// spanBlocks is the length of a span: reading it takes much longer than opening the file again.
const spanBlocks = 16

// readSize is the number of bytes per read: they are still in the core's own cache when their
// checksum is computed, which is twice as fast as with whole blocks.
const readSize = 256 << 10

// scanner is the state of one Check.
type scanner struct {
	checksums Checksums
	dir       string
	spans     []span
	next      atomic.Int64

	mu     sync.Mutex // guards the fields below
	report func(formats.Damage)
	failed error
}

func (sc *scanner) work(ctx context.Context) {
	buf := make([]byte, BlockSize)
	for ctx.Err() == nil {
		i := sc.next.Add(1) - 1
		if i >= int64(len(sc.spans)) {
			return
		}
		sp := sc.spans[i]
		if err := guard.For(sc.checksums[sp.file].Name, func() error { return sc.span(ctx, sp, buf) }); err != nil {
			sc.mu.Lock()
			sc.failed = errors.Join(sc.failed, err)
			sc.mu.Unlock()
		}
	}
}

func (sc *scanner) span(ctx context.Context, sp span, buf []byte) error {
	fs := &sc.checksums[sp.file]
	f, err := unblocked.Open(fs.path(sc.dir))
	if errors.Is(err, unix.EIO) {
		sc.damaged(fs, sp.from*BlockSize, (sp.to-sp.from)*BlockSize, err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	for i := sp.from; i < sp.to && ctx.Err() == nil; i++ {
		off := i * BlockSize
		block := buf[:min(BlockSize, fs.Size-off)]
		cause, err := checkBlock(f, off, block, fs.Blocks[i])
		if err != nil {
			return err
		}
		if cause != "" {
			sc.damaged(fs, off, int64(len(block)), cause)
		}
	}
	return nil
}

func (sc *scanner) damaged(fs *FileChecksums, off, n int64, cause string) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.report(formats.Damage{File: fs.Name, Offset: off, Length: n, Cause: cause})
}

// checkBlock reads a block of f at off and returns what is wrong with it, "" if nothing is. EIO is the disk's own word that
// these bytes are lost. With another error nothing is known about them: the mount is gone, or may not be read.
func checkBlock(f io.ReaderAt, off int64, block []byte, want uint32) (wrong string, err error) {
	var sum uint32
	for at := 0; at < len(block); at += readSize {
		p := block[at:min(at+readSize, len(block))]
		n, err := f.ReadAt(p, off+int64(at))
		switch {
		case errors.Is(err, io.EOF) && n < len(p):
			return "the file ends before the block does", nil
		case err != nil && !errors.Is(err, io.EOF) && formats.Unreadable(err) && !errors.Is(err, unix.EIO):
			return "", err
		case err != nil && !errors.Is(err, io.EOF):
			return fmt.Sprintf("byte %d cannot be read: %v", off+int64(at+n), err), nil
		}
		sum = crc32.Update(sum, Castagnoli, p)
	}
	if sum != want {
		return "the checksum differs", nil
	}
	return "", nil
}
