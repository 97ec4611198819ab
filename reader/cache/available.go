package cache

// Available is how much a cache may grow, in bytes.
type Available struct {
	Memory int64 // that this process can have without swapping: the machine's and its cgroup's
	Space  int64 // in the file system; a container's /dev/shm is often small
}

// Bytes is what fits.
func (a Available) Bytes() int64 { return min(a.Memory, a.Space) }

// Free returns how much memory and space a new cache in dir can have; "" is DefaultDir. What open
// caches use is not counted as free.
func Free(dir string) (Available, error) {
	if dir == "" {
		dir = DefaultDir()
	}
	memory, err := freeMemory()
	if err != nil {
		return Available{}, err
	}
	space, err := FreeSpace(dir)
	if err != nil {
		return Available{}, err
	}
	return Available{Memory: memory, Space: space}, nil
}
