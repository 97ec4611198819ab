package parquetfile

import (
	"container/list"
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"

	"github.com/dsconv/dsconv/internal/guard"
)

// Cache keeps pages that were decoded, those that were used last. It is safe for concurrent use.
type Cache struct {
	limit int // bytes

	mu    sync.Mutex
	bytes int
	pages map[pageKey]*list.Element // of *cached
	order list.List                 // the one that was used last is the first
	inUse *semaphore.Weighted       // of maxInUse: the bytes of the pages in use, and of those that wait for memory of the cache
}

// maxInUse bounds the pages that are in use beside each other; a larger one is used alone.
const maxInUse = 384 << 20

// pageKey names a page of data; page -1 is the dictionary.
type pageKey struct {
	file                *File
	group, column, page int
}

// cached is a page that is decoded once, by whoever comes first.
type cached struct {
	key    pageKey
	once   sync.Once
	values *Values
	err    error
}

// NewCache returns a cache of so many bytes, and of the pages that are in use.
func NewCache(limit int) *Cache {
	return &Cache{limit: limit, pages: map[pageKey]*list.Element{}, inUse: semaphore.NewWeighted(maxInUse)}
}

// Row calls use with the values of the page that has the row of a column, and the row's number there. What use gets
// from them is valid while it runs; pages that are not compressed are the file's memory. use must not call Row.
func (c *Cache) Row(f *File, row, column int, use func(v *Values, i int) error) error {
	k, l, i, err := f.locate(row, column)
	if err != nil {
		return err
	}
	size := l.data[k.page].size
	if l.dictionary != nil {
		size += l.dictionary.size
	}
	bytes := int64(min(size, maxInUse))
	if err := c.inUse.Acquire(context.Background(), bytes); err != nil {
		return err
	}
	defer c.inUse.Release(bytes)
	v, err := c.get(k, l)
	if err != nil {
		return fmt.Errorf("%s: column %s of row %d: %w", f.Path, f.footer.columns[column].Name(), row, err)
	}
	body := l.data[k.page].body
	return guard.Read(body, func() error { return use(v, i) })
}

// get returns the decoded page.
func (c *Cache) get(k pageKey, l *pageList) (*Values, error) {
	c.mu.Lock()
	e := c.pages[k]
	if e == nil {
		e = c.order.PushFront(&cached{key: k})
		c.pages[k] = e
	} else {
		c.order.MoveToFront(e)
	}
	c.mu.Unlock()
	p := e.Value.(*cached)
	p.once.Do(func() {
		v, err := c.decode(k, l)
		c.keep(p, v, err)
	})
	return p.values, p.err
}

// decode decodes a page; its dictionary is in the cache too.
func (c *Cache) decode(k pageKey, l *pageList) (*Values, error) {
	v, column, codec := new(Values), &k.file.footer.columns[k.column], k.file.footer.groups[k.group].chunks[k.column].codec
	if k.page < 0 {
		return v, guard.Read(l.dictionary.body, func() error { return v.decodeDictionary(l.dictionary, column, codec) })
	}
	p := &l.data[k.page]
	var words *Values
	if l.dictionary != nil && p.encoding != plainEncoding {
		var err error
		if words, err = c.get(pageKey{k.file, k.group, k.column, -1}, l); err != nil {
			return nil, err
		}
	}
	return v, guard.Read(p.body, func() error { return v.decode(p, column, codec, words) })
}

// keep counts a page that was decoded, and drops the ones that were used longest ago. An error is not kept: the disk
// may be able to read the page the next time.
func (c *Cache) keep(p *cached, v *Values, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	p.values, p.err = v, err
	if err != nil {
		c.drop(p.key)
		return
	}
	c.bytes += p.values.cost()
	for e := c.order.Back(); e != nil && c.bytes > c.limit; {
		old, before := e.Value.(*cached), e.Prev()
		if old != p && old.values != nil {
			c.bytes -= old.values.cost()
			c.drop(old.key)
		}
		e = before
	}
}

func (c *Cache) drop(k pageKey) {
	if e := c.pages[k]; e != nil {
		c.order.Remove(e)
		delete(c.pages, k)
	}
}
