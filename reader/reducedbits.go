package reader

import (
	"strings"
	"sync"
)

// Narrowed are images of more than 8 bits per channel that lost some of them, because the batches' type or
// color is of 8 bits.
type Narrowed struct {
	Times int64  `json:"times"` // an image counts each time that it is decoded
	Key   string `json:"key"`   // of one of them
	How   string `json:"how"`   // how it lost them, as preprocess.Processor.Narrowed says
}

// Narrowed tells of those that were met since the Loader was made.
func (l *Loader) Narrowed() Narrowed {
	l.narrowed.mu.Lock()
	defer l.narrowed.mu.Unlock()
	return l.narrowed.seen
}

// narrowings counts what workers meet.
type narrowings struct {
	mu   sync.Mutex
	seen Narrowed
}

func (n *narrowings) note(key, how string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen.Times++; n.seen.Times == 1 {
		n.seen.Key, n.seen.How = strings.Clone(key), how // the key may lie in the cache's memory
	}
}
