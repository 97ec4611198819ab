//go:build cgo

// The handler of SIGBUS, and the table of the memory that it guards. While it handles a signal it
// allocates only pages and takes one lock. Whoever holds the lock cannot be interrupted by a
// signal and does not touch mapped files.

#define _GNU_SOURCE
#include "handler.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

uint64_t guard_events, guard_replaced;

// The slots, in chunks that never move. In a free slot to is 0.
struct region {
  uintptr_t from, to; // whole pages
  int prot;
  int failed;
  // For each page the number of the last event, and whether it is replaced; NULL before the first.
  uint64_t *stamps;
  // A second mapping of the same file, since the first event: pages are mapped again from it. By
  // another file descriptor they would stay separate mappings, of which a process may
  // have some 65,000.
  char *again;
};
#define REPLACED (1ull << 63)
#define CHUNK 1024
static struct region *chunks[1024];
static int slots;  // ever used
static int vacant; // no slot before this one is free

static int locked;
static uintptr_t page_size;

static void lock(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
    sched_yield();
}

static void unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

// Outside of the handler, signals are blocked while the lock is held.
static void enter(sigset_t *before) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, before);
  lock();
}

static void leave(const sigset_t *before) {
  unlock();
  pthread_sigmask(SIG_SETMASK, before, NULL);
}

// A forked process has none of the threads that might have held the lock.
static void after_fork(void) { unlock(); }

static struct region *region_at(int slot) { return &chunks[slot / CHUNK][slot % CHUNK]; }

static struct region *find(uintptr_t addr) {
  for (int i = 0; i < slots; i++) {
    struct region *r = region_at(i);
    if (addr >= r->from && addr < r->to)
      return r;
  }
  return NULL;
}

// stamp records an event of a page.
static void stamp(struct region *r, size_t page, uint64_t flag) {
  uint64_t number = __atomic_add_fetch(&guard_events, 1, __ATOMIC_SEQ_CST);
  if ((r->stamps[page] & REPLACED) != flag)
    __atomic_add_fetch(&guard_replaced, flag ? 1 : -1, __ATOMIC_SEQ_CST);
  r->stamps[page] = number | flag;
}

// prepare_stamps allocates what the region's first event needs. It returns 0 if it fails.
static int prepare_stamps(struct region *r) {
  size_t size = (r->to - r->from) / page_size * sizeof *r->stamps;
  void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED)
    return 0;
  r->stamps = p;
  if (!(r->prot & PROT_WRITE)) {
    p = mremap((void *)r->from, 0, r->to - r->from, MREMAP_MAYMOVE); // of size 0: the old one stays
    r->again = p == MAP_FAILED ? NULL : p;
  }
  return 1;
}

// replace replaces the page at addr by zeros. It returns 0 if the page is in no slot, or on failure.
static int replace(uintptr_t addr) {
  struct region *r = find(addr);
  if (!r || (!r->stamps && !prepare_stamps(r)))
    return 0;
  size_t page = (addr - r->from) / page_size;
  void *at = (void *)(r->from + page * page_size);
  r->failed = 1;
  stamp(r, page, REPLACED); // before anybody can read the zeros
  if (mmap(at, page_size, r->prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
    stamp(r, page, 0);
    return 0;
  }
  return 1;
}

// The handlers of SIGBUS before ours, the latest last. Entry n is our handler in front of n of them
// and calls the one below it: whoever saved that entry, to call or to restore it, finds the same
// handlers below.
#define LINKS 8
static struct sigaction chain[LINKS];
static int links;
static struct sigaction entries[LINKS + 1]; // of 0 there is none

// A fault that another handler got and did not solve: it will come again.
static struct {
  pid_t thread;
  void *addr;
  int link;
} unsolved;

static int same(const struct sigaction *a, const struct sigaction *b) {
  return a->sa_sigaction == b->sa_sigaction && (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO);
}

static int is_ours(const struct sigaction *a) {
  for (int i = 1; i <= LINKS; i++)
    if (same(a, &entries[i]))
      return 1;
  return 0;
}

static uintptr_t counter(const void *context) {
#if defined(__x86_64__)
  return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
  return ((const ucontext_t *)context)->uc_mcontext.pc;
#else
  (void)context;
  return 0;
#endif
}

// die ends the process as the signal does without a handler: now if it was raised, else when the
// instruction runs again.
static void die(int sig, const siginfo_t *info) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(sig, &standard, NULL);
  if (info->si_code <= 0)
    raise(sig);
}

// pass calls the handler below entry n, or, for a fault that it did not solve, the one before that.
static void pass(int n, int sig, siginfo_t *info, void *context) {
  pid_t thread = (pid_t)syscall(SYS_gettid);
  int fault = info->si_code > 0, link = n - 1;
  lock();
  if (fault && unsolved.thread == thread && unsolved.addr == info->si_addr && unsolved.link <= link)
    link = unsolved.link - 1;
  unsolved.thread = 0;
  struct sigaction to = {.sa_handler = SIG_DFL}, was, now;
  if (link >= 0)
    to = chain[link];
  unlock();
  int known = sigaction(sig, NULL, &was) == 0;
  uintptr_t before = counter(context);
  if (to.sa_flags & SA_SIGINFO)
    to.sa_sigaction(sig, info, context);
  else if (to.sa_handler == SIG_DFL || (to.sa_handler == SIG_IGN && fault))
    die(sig, info);
  else if (to.sa_handler != SIG_IGN)
    to.sa_handler(sig);
  // A handler that replaced ours did something, as faulthandler does before it
  // raises the signal again.
  if (!fault || counter(context) != before || !known || sigaction(sig, NULL, &now) || !same(&was, &now))
    return;
  lock();
  unsolved.thread = thread;
  unsolved.addr = info->si_addr;
  unsolved.link = link;
  unlock();
}

// unreadable reports whether the signal is about memory without readable contents.
static int unreadable(const siginfo_t *info) {
  return info->si_code == BUS_ADRERR || info->si_code == BUS_MCEERR_AR || info->si_code == BUS_OBJERR;
}

static void handle(int n, int sig, siginfo_t *info, void *context) {
  int saved = errno;
  int done = 0;
  if (unreadable(info)) {
    lock();
    done = replace((uintptr_t)info->si_addr);
    unlock();
  }
  if (!done)
    pass(n, sig, info, context);
  errno = saved;
}

#define ENTRY(n)                                                                                             \
  static void entry_##n(int sig, siginfo_t *info, void *context) { handle(n, sig, info, context); }          \
  static void entry_##n(int, siginfo_t *, void *)
ENTRY(1);
ENTRY(2);
ENTRY(3);
ENTRY(4);
ENTRY(5);
ENTRY(6);
ENTRY(7);
ENTRY(8);

static void prepare(void) {
  static void (*const functions[LINKS])(int, siginfo_t *, void *) = {
      entry_1, entry_2, entry_3, entry_4, entry_5, entry_6, entry_7, entry_8,
  };
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  pthread_atfork(NULL, NULL, after_fork);
  for (int i = 0; i < LINKS; i++) {
    entries[i + 1].sa_sigaction = functions[i];
    entries[i + 1].sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART; // as Go needs from all handlers
    sigfillset(&entries[i + 1].sa_mask);
  }
}

// remember adds the present handler of SIGBUS to the chain. It returns 0 if the chain is too long:
// then that handler stays in front of ours, and calls ours if it calls its predecessor.
static int remember(const struct sigaction *now) {
  for (int i = 0; i < links; i++)
    if (same(&chain[i], now)) { // those after it are gone
      chain[i] = *now;
      links = i + 1;
      return 1;
    }
  if (links == LINKS)
    return 0;
  chain[links++] = *now;
  return 1;
}

int guard_renew(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, prepare);
  struct sigaction now;
  if (sigaction(SIGBUS, NULL, &now))
    return errno;
  if (is_ours(&now))
    return 0;
  sigset_t before;
  enter(&before);
  int failed = 0;
  if (sigaction(SIGBUS, NULL, &now))
    failed = errno;
  else if (!is_ours(&now) && remember(&now) && sigaction(SIGBUS, &entries[links], NULL))
    failed = errno;
  leave(&before);
  return failed;
}

// spare returns a free slot, or -1.
static int spare(void) {
  for (; vacant < slots; vacant++)
    if (region_at(vacant)->to == 0)
      return vacant;
  if (slots == CHUNK * (int)(sizeof chunks / sizeof chunks[0]))
    return -1;
  struct region **chunk = &chunks[slots / CHUNK];
  if (!*chunk && !(*chunk = calloc(CHUNK, sizeof **chunk)))
    return -1;
  return slots++;
}

int guard_watch(void *at, size_t size, int prot) {
  sigset_t before;
  enter(&before);
  int slot = spare();
  if (slot >= 0)
    *region_at(slot) = (struct region){
        .from = (uintptr_t)at,
        .to = (uintptr_t)at + (size + page_size - 1) / page_size * page_size,
        .prot = prot,
    };
  leave(&before);
  return slot;
}

// end_replacing removes the region's pages from the count of replaced pages.
static void end_replacing(struct region *r) {
  size_t pages = (r->to - r->from) / page_size;
  for (size_t i = 0; r->stamps && i < pages; i++)
    if (r->stamps[i] & REPLACED)
      stamp(r, i, 0);
}

void guard_unwatch(int slot) {
  sigset_t before;
  enter(&before);
  struct region *r = region_at(slot);
  size_t size = r->to - r->from;
  end_replacing(r);
  if (r->stamps)
    munmap(r->stamps, size / page_size * sizeof *r->stamps);
  if (r->again)
    munmap(r->again, size);
  *r = (struct region){0};
  if (slot < vacant)
    vacant = slot;
  leave(&before);
}

void guard_forget(int slot) {
  sigset_t before;
  enter(&before);
  end_replacing(region_at(slot));
  leave(&before);
}

size_t guard_faulted(int slot, uint64_t mark, size_t first, size_t last, size_t *from, size_t *to) {
  size_t n = 0;
  sigset_t before;
  enter(&before);
  struct region *r = region_at(slot);
  for (size_t i = first; r->stamps && i <= last; i++)
    if ((r->stamps[i] & REPLACED) || r->stamps[i] > mark) {
      if (n++ == 0)
        *from = i;
      *to = i;
    }
  leave(&before);
  return n;
}

void guard_restore(int slot, size_t first, size_t last) {
  sigset_t before;
  enter(&before);
  struct region *r = region_at(slot);
  for (size_t i = first; r->stamps && r->again && i <= last; i++) {
    if (!(r->stamps[i] & REPLACED))
      continue;
    size_t at = i * page_size;
    if (mremap(r->again + at, 0, page_size, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)(r->from + at)) ==
        MAP_FAILED)
      break;
    stamp(r, i, 0);
  }
  leave(&before);
}

int guard_failed(int slot) {
  sigset_t before;
  enter(&before);
  int failed = region_at(slot)->failed;
  leave(&before);
  return failed;
}
