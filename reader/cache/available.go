package cache

// Room is how much a cache may grow, in bytes.
type Room struct {
	Memory int64 // that this process can have without swapping: the machine's and its cgroup's
	Space  int64 // in the file system; a container's /dev/shm is often small
}

// Bytes is what fits.
func (r Room) Bytes() int64 { return min(r.Memory, r.Space) }

// Free says how much room there is for a new cache in dir; "" means DefaultDir. What caches
// hold that are open is no longer free.
func Free(dir string) (Room, error) {
	if dir == "" {
		dir = DefaultDir()
	}
	memory, err := freeMemory()
	if err != nil {
		return Room{}, err
	}
	space, err := FreeSpace(dir)
	if err != nil {
		return Room{}, err
	}
	return Room{Memory: memory, Space: space}, nil
}
