// Memory of the GPU, and pinned memory of the host.
//
// Device memory is one file in memory, mapped twice: at the device addresses, where nobody can read it, and
// where the fake itself works on it. An allocation lies against a page that cannot be read either, the bytes
// around it are filled and checked, and an address is never given out twice.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../fake.h"
#include "cu.h"

enum { PAGE = 4096, ALIGN = 256, FRESH = 0xA5, AROUND = 0x5A };
static const size_t area = (size_t)1 << 38;

struct range {
  uintptr_t at; // as the user has it
  size_t size;
  size_t first, pages; // the offset of its first page in the area, and how many bytes of pages
  bool live;
};

struct pinned {
  struct pinned *next;
  char *at;
  size_t size;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int file = -1;
static char *device, *host; // the two mappings
static size_t next_page, in_use;
static struct range *ranges; // by address
static size_t range_count, range_room;
static struct pinned *pins;

static void map_area(void) {
  if (device)
    return;
  file = memfd_create("fakegpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, (off_t)area))
    abort();
  device = mmap(NULL, area, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  host = mmap(NULL, area, PROT_NONE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (device == MAP_FAILED || host == MAP_FAILED)
    abort();
}

static void remember(struct range r) {
  if (range_count == range_room) {
    range_room = range_room ? 2 * range_room : 64;
    ranges = realloc(ranges, range_room * sizeof *ranges);
    if (!ranges)
      abort();
  }
  ranges[range_count++] = r;
}

static void protect(const struct range *r, int rights) {
  if (mprotect(host + r->first, r->pages, rights))
    abort();
}

int fake_allocate(uint64_t *at, size_t size) {
  size_t limit = (size_t)fake_setting("memory", 1L << 30);
  pthread_mutex_lock(&lock);
  map_area();
  size_t rounded = (size + ALIGN - 1) / ALIGN * ALIGN, pages = (rounded + PAGE - 1) / PAGE * PAGE;
  if (size == 0 || size > limit || in_use + pages > limit || next_page + pages + 2 * PAGE > area) {
    pthread_mutex_unlock(&lock);
    return size == 0 ? CU_INVALID_VALUE : CU_OUT_OF_MEMORY;
  }
  struct range r = {.size = size, .first = next_page + PAGE, .pages = pages, .live = true};
  r.at = (uintptr_t)device + r.first + pages - rounded;
  next_page = r.first + pages;
  in_use += pages;
  protect(&r, PROT_READ | PROT_WRITE);
  memset(host + r.first, AROUND, pages);
  memset(host + r.first + pages - rounded, FRESH, size);
  remember(r);
  *at = r.at;
  pthread_mutex_unlock(&lock);
  return 0;
}

// The last range that begins at or before at.
static struct range *find(uintptr_t at) {
  size_t low = 0, high = range_count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (ranges[middle].at <= at)
      low = middle + 1;
    else
      high = middle;
  }
  return low ? &ranges[low - 1] : NULL;
}

static void check_around(const struct range *r) {
  const unsigned char *p = (unsigned char *)host + r->first;
  size_t begin = r->at - (uintptr_t)device - r->first;
  for (size_t i = 0; i < r->pages; i++) {
    if (i == begin)
      i += r->size;
    if (i < r->pages && p[i] != AROUND) {
      fake_violation("device memory was written %s an allocation of %zu bytes",
                     i < begin ? "before" : "behind", r->size);
      return;
    }
  }
}

bool fake_free(uint64_t at) {
  pthread_mutex_lock(&lock);
  struct range *r = find(at);
  bool found = r && r->live && r->at == at;
  if (found) {
    check_around(r);
    r->live = false;
    in_use -= r->pages;
    madvise(host + r->first, r->pages, MADV_REMOVE);
    protect(r, PROT_NONE);
  }
  pthread_mutex_unlock(&lock);
  return found;
}

void *fake_device(uint64_t at, size_t size) {
  pthread_mutex_lock(&lock);
  struct range *r = find(at);
  bool inside = r && r->live && at - r->at <= r->size && size <= r->size - (at - r->at);
  void *p = inside ? host + (at - (uintptr_t)device) : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

bool fake_read(void *to, uint64_t at, size_t size) {
  void *from = fake_device(at, size);
  if (from)
    memcpy(to, from, size);
  return from != NULL;
}

void *fake_range(uint64_t at, uint64_t *from, size_t *size) {
  pthread_mutex_lock(&lock);
  struct range *r = find(at);
  bool inside = r && r->live && at - r->at < r->size;
  if (inside) {
    *from = r->at;
    *size = r->size;
  }
  void *p = inside ? host + (r->at - (uintptr_t)device) : NULL;
  pthread_mutex_unlock(&lock);
  return p;
}

bool fake_is_device(uint64_t at) {
  pthread_mutex_lock(&lock);
  bool inside = device && at >= (uintptr_t)device && at < (uintptr_t)device + area;
  pthread_mutex_unlock(&lock);
  return inside;
}

void fake_memory_info(size_t *free_bytes, size_t *total) {
  *total = (size_t)fake_setting("memory", 1L << 30);
  pthread_mutex_lock(&lock);
  *free_bytes = *total - in_use;
  pthread_mutex_unlock(&lock);
}

void *fake_pin(size_t size) {
  struct pinned *p = calloc(1, sizeof *p);
  size_t pages = (size + PAGE - 1) / PAGE * PAGE;
  if (!p || posix_memalign((void **)&p->at, PAGE, pages + PAGE)) {
    free(p);
    return NULL;
  }
  p->size = size;
  memset(p->at, AROUND, pages + PAGE);
  memset(p->at, FRESH, size);
  pthread_mutex_lock(&lock);
  p->next = pins;
  pins = p;
  pthread_mutex_unlock(&lock);
  return p->at;
}

bool fake_unpin(void *at) {
  pthread_mutex_lock(&lock);
  struct pinned **link = &pins;
  while (*link && (*link)->at != at)
    link = &(*link)->next;
  struct pinned *p = *link;
  if (p)
    *link = p->next;
  pthread_mutex_unlock(&lock);
  if (!p)
    return false;
  for (size_t i = p->size; i < p->size + PAGE; i++)
    if ((unsigned char)p->at[i] != AROUND) {
      fake_violation("pinned memory was written behind a block of %zu bytes", p->size);
      break;
    }
  free(p->at);
  free(p);
  return true;
}

bool fake_is_pinned(const void *at, size_t size) {
  const char *from = at;
  pthread_mutex_lock(&lock);
  struct pinned *p = pins;
  while (p && !(from >= p->at && from + size <= p->at + p->size))
    p = p->next;
  pthread_mutex_unlock(&lock);
  return p != NULL;
}

int fake_live_memory(char *text, size_t size) {
  int allocations = 0, blocks = 0, at = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < range_count; i++)
    allocations += ranges[i].live;
  for (struct pinned *p = pins; p; p = p->next)
    blocks++;
  pthread_mutex_unlock(&lock);
  if (!text)
    return allocations + blocks;
  if (size)
    *text = 0;
  if (allocations)
    at += snprintf(text, size, "%d allocations of device memory; ", allocations);
  if (blocks && (size_t)at < size)
    at += snprintf(text + at, size - (size_t)at, "%d blocks of pinned memory; ", blocks);
  return at;
}
