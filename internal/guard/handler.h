// What keeps a page of a mapped file that cannot be read from ending the process.

#ifndef DSCONV_GUARD_HANDLER_H
#define DSCONV_GUARD_HANDLER_H

#include <stddef.h>
#include <stdint.h>

// The number of pages that were replaced by zeros or mapped anew so far, and of those that are
// replaced now. Only to be read.
extern uint64_t guard_events, guard_replaced;

// guard_renew makes the handler the first that SIGBUS comes to, whoever set one meanwhile. It
// gives 0 or an errno.
int guard_renew(void);

// guard_watch has the handler replace pages of that memory, which is mapped with the protection
// prot. It gives a slot, or -1 if there is no memory.
int guard_watch(void *at, size_t size, int prot);
void guard_unwatch(int slot);

// guard_faulted looks among pages first to last of a slot for those that are replaced now, or
// that anything happened to since mark. It gives how many there are, and the outermost.
size_t guard_faulted(int slot, uint64_t mark, size_t first, size_t last, size_t *from, size_t *to);

// guard_restore maps those of the pages first to last that are replaced from the file again,
// unless the slot's memory can be written to.
void guard_restore(int slot, size_t first, size_t last);

// guard_forget says that the slot's memory will not be used any more.
void guard_forget(int slot);

// guard_failed reports whether a page of the slot was ever replaced.
int guard_failed(int slot);

#endif
