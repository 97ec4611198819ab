package cache

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"unsafe"
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

// magic is the start of the file, with the version of its layout.
var magic = binary.NativeEndian.Uint64([]byte("dscache1"))

const (
	pageSize   = 1 << 16 // the largest page in use
	headerSize = 4096
	slotSize   = int(unsafe.Sizeof(slot{}))
	alignment  = 64 // of records
)

// header is the start of the file. Offsets count from there.
type header struct {
	magic, samples, limit uint64 // never change
	_                     [40]byte

	cursor atomic.Uint64 // offset of the first free byte
	backed atomic.Uint64 // offset up to which memory is allocated
	held   atomic.Int64  // samples that are ready
	full   atomic.Uint32 // a Reason
}

// slot locates a sample: word is the offset of its record, with the state in the low bits.
type slot struct {
	word atomic.Uint64
	size atomic.Uint64 // of the sample; of the record's memory while the slot is vacant
}

const (
	empty   = iota
	claimed // it is being filled, or the process that did was killed
	vacant  // it has a record, but filling it failed
	ready
	stateMask = alignment - 1
)

// RecordSize is the size that a sample counts toward the limit.
func RecordSize(size int) int64 { return int64(align(uint64(size), alignment)) }

// IndexSize is the memory that a cache takes in addition to the limit.
func IndexSize(samples int) int64 {
	return int64(align(headerSize+uint64(samples)*uint64(slotSize), pageSize))
}

func align(n, to uint64) uint64 { return (n + to - 1) &^ (to - 1) }

// checkHeader returns an error if a file of that size with header h is not the cache of c.
func (c Config) checkHeader(h *header, size int64) error {
	if h.magic != magic || size != fileSize(h.samples, h.limit) {
		return errors.New("it is not a cache of this version of dsconv")
	}
	if h.samples != uint64(c.Samples) {
		return fmt.Errorf("it is open elsewhere with %d samples, here with %d", h.samples, c.Samples)
	}
	if c.Limit != 0 && h.limit != uint64(c.Limit) {
		return fmt.Errorf("it is open elsewhere with a limit of %d bytes, here with %d", h.limit, c.Limit)
	}
	return nil
}

// fileSize is the length of a cache's file; -1 if the numbers make no sense.
func fileSize(samples, limit uint64) int64 {
	if samples > maxLimit/uint64(slotSize) || limit > maxLimit {
		return -1
	}
	return IndexSize(int(samples)) + int64(align(limit, pageSize))
}
