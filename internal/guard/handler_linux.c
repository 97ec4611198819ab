//go:build cgo

// The handler of SIGBUS, and the table of the memory that it looks after. What is here is called
// while a signal is handled: it allocates nothing but pages, and takes one lock, which nobody
// holds who could be interrupted by a signal or touch mapped files.

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

// The slots, in chunks that never move. A free one has no end.
struct region {
  uintptr_t from, to;
  int prot;
  int failed;
  // For each page the number of the last event, and whether it is replaced; NULL before the first.
  uint64_t *stamps;
};
#define REPLACED (1ull << 63)
#define CHUNK 1024
static struct region *chunks[1024];
static int slots;  // ever used
static int vacant; // none before it is free

static int locked;
static uintptr_t page_size;

static void lock(void) {
  while (__atomic_exchange_n(&locked, 1, __ATOMIC_ACQUIRE))
    sched_yield();
}

static void unlock(void) { __atomic_store_n(&locked, 0, __ATOMIC_RELEASE); }

// Outside of the handler no signal may come while the lock is held.
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

// stamp notes that something happened to a page.
static void stamp(struct region *r, size_t page, uint64_t flag) {
  uint64_t number = __atomic_add_fetch(&guard_events, 1, __ATOMIC_SEQ_CST);
  if ((r->stamps[page] & REPLACED) != flag)
    __atomic_add_fetch(&guard_replaced, flag ? 1 : -1, __ATOMIC_SEQ_CST);
  r->stamps[page] = number | flag;
}

// replace puts zeros in the place of the page at addr. It gives 0 if that is not ours, or fails.
static int replace(uintptr_t addr) {
  struct region *r = find(addr);
  if (!r)
    return 0;
  if (!r->stamps) {
    size_t size = ((r->to - r->from) / page_size + 1) * sizeof *r->stamps;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
      return 0;
    r->stamps = p;
  }
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

// Who handled SIGBUS before us, the latest last. Each time that we are put before another, it is
// by another entry, so that we see when a handler puts back what it had found.
#define LINKS 8
static struct sigaction chain[LINKS];
static int links;
static struct sigaction entries[2];
static int entry;

// A fault that a handler was given and that it did nothing about: it will come again.
static struct {
  pid_t thread;
  void *addr;
  int link;
} unsolved;

static int same(const struct sigaction *a, const struct sigaction *b) {
  return a->sa_sigaction == b->sa_sigaction && (a->sa_flags & SA_SIGINFO) == (b->sa_flags & SA_SIGINFO);
}

static int is_ours(const struct sigaction *a) { return same(a, &entries[0]) || same(a, &entries[1]); }

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
// instruction is tried again.
static void die(int sig, const siginfo_t *info) {
  struct sigaction standard = {.sa_handler = SIG_DFL};
  sigaction(sig, &standard, NULL);
  if (info->si_code <= 0)
    raise(sig);
}

// pass calls the latest handler before us, or, for a fault that it let be, the one before that.
static void pass(int sig, siginfo_t *info, void *context) {
  pid_t thread = (pid_t)syscall(SYS_gettid);
  lock();
  int link = links - 1;
  if (info->si_code > 0 && unsolved.thread == thread && unsolved.addr == info->si_addr)
    link = unsolved.link - 1;
  unsolved.thread = 0;
  struct sigaction to = {.sa_handler = SIG_DFL};
  if (link >= 0)
    to = chain[link];
  unlock();
  uintptr_t before = counter(context);
  if (to.sa_flags & SA_SIGINFO)
    to.sa_sigaction(sig, info, context);
  else if (to.sa_handler == SIG_DFL || (to.sa_handler == SIG_IGN && info->si_code > 0))
    die(sig, info);
  else if (to.sa_handler != SIG_IGN)
    to.sa_handler(sig);
  struct sigaction now;
  lock();
  if (sigaction(sig, NULL, &now) == 0 && !same(&now, &entries[entry])) {
    // The handler has put something else there: it wants no more signals, as faulthandler does
    // before it raises the signal anew.
    links = link > 0 ? link : 0;
    if (is_ours(&now))
      entry = same(&now, &entries[0]) ? 0 : 1;
  } else if (info->si_code > 0 && counter(context) == before) {
    unsolved.thread = thread;
    unsolved.addr = info->si_addr;
    unsolved.link = link;
  }
  unlock();
}

static void handle(int sig, siginfo_t *info, void *context) {
  int saved = errno;
  int done = 0;
  if (info->si_code > 0) { // a fault, and no kill
    lock();
    done = replace((uintptr_t)info->si_addr);
    unlock();
  }
  if (!done)
    pass(sig, info, context);
  errno = saved;
}

static void handle_too(int sig, siginfo_t *info, void *context) { handle(sig, info, context); }

static void prepare(void) {
  page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
  pthread_atfork(NULL, NULL, after_fork);
  for (int i = 0; i < 2; i++) {
    entries[i].sa_sigaction = i ? handle_too : handle;
    entries[i].sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART; // as Go wants it of all handlers
    sigfillset(&entries[i].sa_mask);
  }
}

// remember adds who handles SIGBUS now to the chain.
static void remember(const struct sigaction *now) {
  for (int i = 0; i < links; i++)
    if (same(&chain[i], now)) { // those after it are gone
      chain[i] = *now;
      links = i + 1;
      return;
    }
  if (links == LINKS) { // the first is Go's
    memmove(&chain[1], &chain[2], (LINKS - 2) * sizeof chain[0]);
    links--;
  }
  chain[links++] = *now;
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
  else if (!is_ours(&now)) {
    remember(&now);
    entry = 1 - entry;
    if (sigaction(SIGBUS, &entries[entry], NULL))
      failed = errno;
  }
  leave(&before);
  return failed;
}

// spare gives a slot that is free, or -1.
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
    *region_at(slot) = (struct region){.from = (uintptr_t)at, .to = (uintptr_t)at + size, .prot = prot};
  leave(&before);
  return slot;
}

void guard_unwatch(int slot) {
  sigset_t before;
  enter(&before);
  struct region *r = region_at(slot);
  size_t pages = (r->to - r->from) / page_size + 1;
  if (r->stamps) {
    for (size_t i = 0; i < pages; i++)
      if (r->stamps[i] & REPLACED)
        __atomic_sub_fetch(&guard_replaced, 1, __ATOMIC_SEQ_CST);
    munmap(r->stamps, pages * sizeof *r->stamps);
  }
  *r = (struct region){0};
  if (slot < vacant)
    vacant = slot;
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

void guard_restore(int slot, int fd, size_t first, size_t last) {
  sigset_t before;
  enter(&before);
  struct region *r = region_at(slot);
  for (size_t i = first; r->stamps && i <= last; i++) {
    if (!(r->stamps[i] & REPLACED))
      continue;
    void *at = (void *)(r->from + i * page_size);
    if (mmap(at, page_size, r->prot, MAP_SHARED | MAP_FIXED, fd, (off_t)(i * page_size)) == MAP_FAILED)
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
