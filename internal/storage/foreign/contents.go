package foreign

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/mapped"
)

const (
	// keptContents is how many bytes of decompressed files stay in memory: those that were used last.
	keptContents = 256 << 20
	// maxContent is the largest file that is decompressed.
	maxContent = 1 << 30
	// Files that together claim more than plausibleContents may claim maxRatio times their size.
	plausibleContents = 1 << 30
	maxRatio          = 100
	piece             = 4 << 20 // between looks at the context
)

// contents are the bytes of data files. Those of files that are compressed as a whole are decompressed when they are
// used, one file at a time, and kept outside of Go's heap, since they are freed one by one. It is safe for concurrent
// use.
type contents struct {
	source *Source
	files  []*mapped.Mapping
	limit  int64 // of what is kept

	turn sync.Mutex // of whoever decompresses

	mu     sync.Mutex
	unused sync.Cond // signals that a content is not in use any more
	kept   []*content
	bytes  int64 // of kept
}

// content is a decompressed file.
type content struct {
	file  int
	data  []byte
	users int
}

func newContents(s *Source, files []*mapped.Mapping) *contents {
	c := &contents{source: s, files: files, limit: keptContents}
	c.unused.L = &c.mu
	return c
}

// check returns an error if the files claim to contain what they cannot, or what is too much for the memory.
func (c *contents) check() error {
	var packed, unpacked int64
	for k, f := range c.source.Files {
		if f.Unpack == nil {
			continue
		}
		if f.Size < 0 || f.Size > maxContent {
			return fmt.Errorf("%s: %w: it would be %d bytes when it is decompressed, and at most 1 GiB is read: write smaller shards, or decompress them",
				f.Path, formats.ErrDamaged, f.Size)
		}
		packed, unpacked = packed+int64(len(c.files[k].Data)), unpacked+f.Size
	}
	if unpacked > plausibleContents && unpacked > maxRatio*packed {
		return fmt.Errorf("%s: %w: its files of %d bytes would be %d bytes when they are decompressed, more than %d times as many",
			c.source.Path, formats.ErrDamaged, packed, unpacked, maxRatio)
	}
	return nil
}

// isPacked reports whether file k is compressed as a whole.
func (c *contents) isPacked(k int) bool {
	return k >= 0 && k < len(c.source.Files) && c.source.Files[k].Unpack != nil
}

// size returns the number of bytes of file k.
func (c *contents) size(k int) int64 {
	if c.isPacked(k) {
		return c.source.Files[k].Size
	}
	return int64(len(c.files[k].Data))
}

// slice returns n bytes of file k: mapped memory, or a copy of what was decompressed.
func (c *contents) slice(k int, off, n int64) (raw []byte, err error) {
	if !c.isPacked(k) {
		return c.files[k].Slice(off, n)
	}
	err = c.use(context.Background(), k, func(data []byte) error {
		lent, err := (&mapped.Mapping{Data: data}).Slice(off, n)
		raw = bytes.Clone(lent)
		return err
	})
	return raw, err
}

// use calls use with the decompressed bytes of file k, which are valid until it returns.
func (c *contents) use(ctx context.Context, k int, use func(data []byte) error) error {
	one, err := c.get(ctx, k)
	if err != nil {
		return err
	}
	defer func() {
		c.mu.Lock()
		one.users--
		c.mu.Unlock()
		c.unused.Broadcast()
	}()
	return use(one.data)
}

// get returns the content of file k, which the caller uses from now on.
func (c *contents) get(ctx context.Context, k int) (*content, error) {
	if one := c.find(k); one != nil {
		return one, nil
	}
	c.turn.Lock()
	defer c.turn.Unlock()
	if one := c.find(k); one != nil {
		return one, nil
	}
	size := c.source.Files[k].Size
	if err := c.makeRoom(size); err != nil {
		return nil, err
	}
	one := &content{file: k, users: 1}
	var err error
	if one.data, err = allocate(size); err != nil {
		return nil, err
	}
	if err := c.unpack(ctx, k, one.data); err != nil {
		return nil, errors.Join(err, free(one.data))
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept, c.bytes = append(c.kept, one), c.bytes+size
	return one, nil
}

// find returns the content of file k if it is in memory, which the caller uses from now on.
func (c *contents) find(k int) *content {
	c.mu.Lock()
	defer c.mu.Unlock()
	for at, one := range c.kept {
		if one.file == k {
			one.users++
			c.kept = append(append(c.kept[:at], c.kept[at+1:]...), one) // the one that was used last is the last
			return one
		}
	}
	return nil
}

// makeRoom frees what was not used for longest, until size more bytes may be kept or nothing is.
func (c *contents) makeRoom(size int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.kept) > 0 && c.bytes+size > c.limit {
		at := 0
		for at < len(c.kept) && c.kept[at].users > 0 {
			at++
		}
		if at == len(c.kept) {
			c.unused.Wait()
			continue
		}
		one := c.kept[at]
		c.kept, c.bytes = append(c.kept[:at], c.kept[at+1:]...), c.bytes-int64(len(one.data))
		if err := free(one.data); err != nil {
			return err
		}
	}
	return nil
}

// unpack decompresses file k into data, which it must fill.
func (c *contents) unpack(ctx context.Context, k int, data []byte) error {
	packed := c.files[k].Data
	return guard.Read(packed, func() (err error) {
		r, err := c.source.Files[k].Unpack(bytes.NewReader(packed))
		if err != nil {
			return fmt.Errorf("%w: %w", formats.ErrDamaged, err)
		}
		defer func() { err = errors.Join(err, r.Close()) }()
		for at := 0; at < len(data); {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			n, err := io.ReadFull(r, data[at:min(at+piece, len(data))])
			if at += n; err != nil && at < len(data) {
				return fmt.Errorf("%w: of %d bytes it has %d: %w", formats.ErrDamaged, len(data), at, err)
			}
		}
		var more [1]byte
		if n, err := io.ReadFull(r, more[:]); n > 0 {
			return fmt.Errorf("%w: it has more than %d bytes", formats.ErrDamaged, len(data))
		} else if !errors.Is(err, io.EOF) {
			return fmt.Errorf("%w: %w", formats.ErrDamaged, err) // a wrong checksum
		}
		return nil
	})
}

// close frees all; nobody uses it.
func (c *contents) close() (err error) {
	for _, one := range c.kept {
		err = errors.Join(err, free(one.data))
	}
	c.kept, c.bytes = nil, 0
	return err
}

func allocate(size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	data, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("no memory of %d bytes: %w", size, err)
	}
	return data, nil
}

func free(data []byte) error {
	if data == nil {
		return nil
	}
	return unix.Munmap(data)
}
