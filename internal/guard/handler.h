// Keeps the process alive when a page of a mapped file cannot be read.

#ifndef DSCONV_GUARD_HANDLER_H
#define DSCONV_GUARD_HANDLER_H

#include <stddef.h>
#include <stdint.h>

// The number of times that a page was replaced by zeros or mapped again so far, and the number of
// pages that are replaced now. Read-only for callers.
extern uint64_t guard_events, guard_replaced;

// guard_renew makes the handler the first that SIGBUS goes to, whoever installed one meanwhile. It
// returns 0 or an errno.
int guard_renew(void);

// guard_watch lets the handler replace pages of that memory, which is mapped with the protection
// prot. It returns a slot, or -1 if there is no memory.
int guard_watch(void *at, size_t size, int prot);
void guard_unwatch(int slot);

// guard_faulted counts those of the pages first to last of a slot that are replaced now, or that
// were replaced or mapped again since mark. It sets from and to to the first and the last of them.
size_t guard_faulted(int slot, uint64_t mark, size_t first, size_t last, size_t *from, size_t *to);

// guard_restore maps the replaced ones of the pages first to last from the file again,
// unless the slot's memory is writable.
void guard_restore(int slot, size_t first, size_t last);

// guard_forget marks the slot's memory as no longer used.
void guard_forget(int slot);

// guard_failed reports whether a page of the slot was ever replaced.
int guard_failed(int slot);

#endif
