// Package cache keeps samples in memory up to a limit, once a node: all ranks and worker
// processes of a machine that open a cache of the same name share one file in a file system
// that lies in memory, and read its records where they are.
//
// A sample is put once, by whoever read it first, and is never moved or removed. When the
// limit is reached, or memory runs out, the cache takes no more; what is not in it is read
// from the dataset as before. Which samples are in it therefore depends on timing, the bytes
// of a sample never do.
//
// # The file
//
// A header, an index of one slot a sample, and an arena that is given out from its beginning.
// All that changes is changed by atomic instructions; there is no lock that a process could
// take with it when it is killed:
//
//   - A slot is claimed by compare-and-swap, its record is filled in place, then the slot is
//     made ready by an atomic store. Who is killed in between leaves a claimed slot: that
//     sample is not cached, and nobody waits for it.
//   - The arena is backed by memory in steps, before a record is put there (fallocate), so
//     that a full file system is an answer and not a SIGBUS. To back the same range twice
//     does no harm, so that needs no lock either.
//
// # Its lifetime
//
// Every process holds a shared flock on the file. The last one to close it removes it. The
// file of processes that were killed has no lock left: the next Open of the same user,
// whatever its name, removes it.
package cache
