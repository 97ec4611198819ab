// Package cache keeps samples in memory up to a limit, once per machine: all ranks and worker
// processes that open a cache of the same name share one file in an in-memory file system,
// and read its records in place.
//
// A sample is put once, by whoever reads it first, and is never moved or removed. When the
// limit is reached, or memory runs out, the cache takes no more; other samples are read
// from the dataset as before. So which samples are cached depends on timing, but the bytes
// of a sample never do.
//
// # The file
//
// A header, an index of one slot per sample, and an arena that is allocated from its start.
// Everything that changes is changed by atomic instructions; there is no lock that a killed
// process could leave locked:
//
//   - A slot is claimed by compare-and-swap, its record is filled in place, then an atomic store
//     makes the slot ready. A process that is killed in between leaves a claimed slot: that
//     sample is not cached, and nobody waits for it.
//   - The arena is backed by memory in steps, before a record is put there (fallocate), so
//     that a full file system is an error and not a SIGBUS. Backing the same range twice
//     does no harm, so that needs no lock either.
//
// # Its lifetime
//
// Every process holds a shared flock on the file. The last one to close it removes it. A file
// whose processes were all killed has no lock left: the next Open of the same user removes it,
// whatever its name.
package cache
