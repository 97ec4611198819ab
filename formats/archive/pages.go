package archive

import (
	"io"
	"io/fs"
	"slices"
	"sort"
	"sync"

	"github.com/dsconv/dsconv/internal/guard"
)

const (
	pageSize   = 1 << 20
	maxPages   = 128 // in memory
	maxCursors = 4   // decoders; zstd's may have windows of 128 MiB
	// keptBehind is how many of the pages that a cursor passes on its way to another one are kept: members that lie
	// near each other are often read in another order.
	keptBehind = 32
)

// point is where decompression can start.
type point struct {
	out, in int64 // offsets in the uncompressed bytes and in the file
	bit     uint8 // gzip: bits of the first byte that belong to the block before
	window  []byte
}

// paged is a compressed file that is read at random, page by page. A page that several readers need is decompressed
// once. It is safe for concurrent use.
type paged struct {
	points []point // by out; the first is 0, 0
	length int64   // uncompressed
	open   func(*point) (io.ReadCloser, error)

	mu      sync.Mutex
	changed sync.Cond
	pages   map[int64]*page
	clock   int64
	cursors []*cursor
	filling map[int64]bool
	closed  bool
}

type page struct {
	data []byte
	used int64
}

// cursor is a decoder at the start of a page, or busy until it is.
type cursor struct {
	r    io.ReadCloser
	pos  int64
	busy bool
	used int64
}

func newPaged(points []point, length int64, open func(*point) (io.ReadCloser, error)) *paged {
	p := &paged{points: points, length: length, open: open, pages: map[int64]*page{}, filling: map[int64]bool{}}
	p.changed.L = &p.mu
	return p
}

func (p *paged) readAt(b []byte, off int64) error {
	for len(b) > 0 {
		if off < 0 || off >= p.length {
			return io.ErrUnexpectedEOF
		}
		data, err := p.page(off / pageSize)
		if err != nil {
			return err
		}
		n := copy(b, data[min(off%pageSize, int64(len(data))):])
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		b, off = b[n:], off+int64(n)
	}
	return nil
}

func (p *paged) tick() int64 {
	p.clock++
	return p.clock
}

// page returns page n of the uncompressed bytes.
func (p *paged) page(n int64) ([]byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for {
		if p.closed {
			return nil, fs.ErrClosed
		}
		if got := p.pages[n]; got != nil {
			got.used = p.tick()
			return got.data, nil
		}
		c, start := p.nearest(n)
		if p.filling[n] || c != nil && c.busy || c == nil && len(p.filling) >= maxCursors {
			p.changed.Wait() // that cursor comes by here, or near
			continue
		}
		if c == nil {
			c = &cursor{pos: -1}
			p.cursors = append(p.cursors, c)
		}
		if err := p.fill(c, start, n); err != nil {
			return nil, err
		}
	}
}

// nearest returns the cursor from which page n is reached soonest, nil if that is the point before it.
func (p *paged) nearest(n int64) (*cursor, *point) {
	start := n * pageSize
	i := sort.Search(len(p.points), func(i int) bool { return p.points[i].out > start }) - 1
	at := &p.points[i]
	var best *cursor
	for _, c := range p.cursors {
		if c.pos >= at.out && c.pos <= start && (best == nil || c.pos > best.pos) {
			best = c
		}
	}
	return best, at
}

// fill moves a cursor, new if its pos is -1, over page n. It unlocks p.mu meanwhile.
func (p *paged) fill(c *cursor, from *point, n int64) error {
	pos := c.pos
	c.busy, c.pos = true, min((n+1)*pageSize, p.length)
	p.filling[n] = true
	p.mu.Unlock()
	var passed map[int64]*page
	err := guard.Do(func() (err error) {
		if pos < 0 {
			pos = from.out
			c.r, err = p.open(from)
		}
		if err == nil {
			passed, err = p.decode(c.r, pos, n)
		}
		return err
	})
	p.mu.Lock()
	delete(p.filling, n)
	c.busy = false
	for k, one := range passed {
		one.used = p.tick()
		p.pages[k] = one
	}
	if got := p.pages[n]; got != nil {
		got.used = p.tick()
		c.used = p.clock
	}
	if err != nil {
		p.drop(c)
	}
	p.evict()
	p.changed.Broadcast()
	return err
}

// decode reads from pos to the end of page n and returns the last pages.
func (p *paged) decode(r io.Reader, pos, n int64) (map[int64]*page, error) {
	first := max((pos+pageSize-1)/pageSize, n-keptBehind)
	if skip := first*pageSize - pos; skip > 0 {
		if _, err := io.CopyN(io.Discard, r, skip); err != nil {
			return nil, noEOF(err)
		}
	}
	pages := map[int64]*page{}
	for k := first; k <= n; k++ {
		data := make([]byte, min(pageSize, p.length-k*pageSize))
		if _, err := io.ReadFull(r, data); err != nil {
			return pages, noEOF(err)
		}
		pages[k] = &page{data: data}
	}
	return pages, nil
}

// evict drops the pages and the cursors that were not used for longest.
func (p *paged) evict() {
	for len(p.pages) > maxPages {
		oldest := int64(-1)
		for k, one := range p.pages {
			if oldest < 0 || one.used < p.pages[oldest].used {
				oldest = k
			}
		}
		delete(p.pages, oldest)
	}
	for len(p.cursors) > maxCursors || p.closed && len(p.cursors) > 0 {
		var oldest *cursor
		for _, c := range p.cursors {
			if !c.busy && (oldest == nil || c.used < oldest.used) {
				oldest = c
			}
		}
		if oldest == nil {
			return
		}
		p.drop(oldest)
	}
}

func (p *paged) drop(c *cursor) {
	p.cursors = slices.DeleteFunc(p.cursors, func(o *cursor) bool { return o == c })
	if c.r != nil {
		_ = c.r.Close() // it was only read
	}
}

// close frees the pages and the decoders, at the latest when they are idle.
func (p *paged) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	clear(p.pages)
	p.evict()
}
