package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Config says which cache to open.
type Config struct {
	// Dir is where the file lies; "" means DefaultDir. It should lie in memory, and all ranks
	// must name the same.
	Dir string
	// Name tells caches apart: a hash of all that decides what the samples are. It consists of
	// at most 128 letters, digits, '.', '-' and '_'.
	Name string
	// Limit is the bytes of content, each sample counted as RecordSize says. 0 takes the limit
	// of the cache that is there; whoever makes it takes half of what Free says.
	Limit int64
	// Samples is how many there are, the indices that Get and Put take.
	Samples int
}

// maxLimit is what two mappings can have of the addresses of a process.
const maxLimit = 1 << 45

// DefaultDir is /dev/shm where there is one, else the folder for temporary files.
func DefaultDir() string {
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

func (c Config) withDefaults() (Config, error) {
	if c.Dir == "" {
		c.Dir = DefaultDir()
	}
	switch {
	case c.Name == "" || len(c.Name) > 128 || strings.ContainsFunc(c.Name, notInName):
		return c, fmt.Errorf("the name %q of a cache is not 1 to 128 letters, digits, '.', '-' or '_'", c.Name)
	case c.Samples <= 0 || c.Samples > maxLimit/slotSize:
		return c, fmt.Errorf("a cache of %d samples", c.Samples)
	case c.Limit < 0 || c.Limit > maxLimit:
		return c, fmt.Errorf("a cache's limit of %d bytes", c.Limit)
	}
	return c, nil
}

func notInName(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_", r)
}

// prefix begins the names of this user's files: the users of a machine do not get in each
// other's way.
func prefix() string { return "dsconv-cache-" + strconv.Itoa(os.Geteuid()) + "-" }

func (c Config) path() string { return filepath.Join(c.Dir, prefix()+c.Name) }

// limit is what a new cache gets.
func (c Config) limit() (int64, error) {
	if c.Limit > 0 {
		return c.Limit, nil
	}
	free, err := Free(c.Dir)
	if err != nil {
		return 0, err
	}
	limit := min(free.Bytes()/2, maxLimit)
	if limit <= 0 {
		return 0, errors.New("no memory is free for a cache")
	}
	return limit, nil
}
