package cache

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Config is which cache to open.
type Config struct {
	// Dir is the file's folder; "" is /dev/shm where there is one. It should be in memory, and the same on all ranks.
	Dir string
	// Name identifies the cache: a hash of everything that determines the samples. It consists of
	// at most 128 letters, digits, '.', '-' and '_'.
	Name string
	// Limit is the maximum number of bytes of all samples, counted by RecordSize. 0 is the limit of
	// the existing cache or, for a new one, half of what is free.
	Limit int64
	// Samples is the number of samples, which Get and Put take by index.
	Samples int
}

// maxLimit is the size of which two mappings fit into a process's address space.
const maxLimit = 1 << 45

// defaultDir is /dev/shm where there is one, else the folder for temporary files.
func defaultDir() string {
	if st, err := os.Stat("/dev/shm"); err == nil && st.IsDir() {
		return "/dev/shm"
	}
	return os.TempDir()
}

func (c Config) withDefaults() (Config, error) {
	c.Dir = cmp.Or(c.Dir, defaultDir())
	switch {
	case c.Name == "" || len(c.Name) > 128 || strings.ContainsFunc(c.Name, notInName):
		return c, fmt.Errorf("the name %q of a cache is not 1 to 128 letters, digits, '.', '-' or '_'", c.Name)
	case c.Samples <= 0 || c.Samples > maxLimit/slotSize:
		return c, fmt.Errorf("a cache of %d samples: wanted 1 to %d", c.Samples, maxLimit/slotSize)
	case c.Limit < 0 || c.Limit > maxLimit:
		return c, fmt.Errorf("a cache limit of %d bytes: wanted 0 to %d", c.Limit, int64(maxLimit))
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
	free, err := roomIn(c.Dir)
	if err != nil {
		return 0, err
	}
	limit := min(free.fits()/2, maxLimit)
	if limit <= 0 {
		return 0, errors.New("no free memory for a cache")
	}
	return limit, nil
}

// room is how much a cache may grow, in bytes.
type room struct {
	memory int64 // that this process can have without swapping: the machine's and its cgroup's
	space  int64 // in the file system; a container's /dev/shm is often small
}

// fits is how much of both there is.
func (r room) fits() int64 { return min(r.memory, r.space) }

// FreeMemory is what the machine has left, or less if a cgroup of the process has.
func FreeMemory() (int64, error) { return freeMemory() }

// roomIn returns how much memory and space a new cache in dir can have. What open caches use is
// not counted as free.
func roomIn(dir string) (room, error) {
	memory, err := freeMemory()
	if err != nil {
		return room{}, err
	}
	space, err := FreeSpace(dir)
	return room{memory, space}, err
}
