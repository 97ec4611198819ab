// Handles.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "../fake.h"

// No address of a process has these bits, so a handle is never mistaken for one.
static const uintptr_t base = (uintptr_t)0xFA6E << 44;

static const char *const names[FAKE_KINDS] = {
    "context",      "stream",        "event",         "module",         "function",      "nvjpeg handle",
    "nvjpeg state", "nvjpeg stream", "nvjpeg params", "nvjpeg decoder", "pinned buffer", "device buffer"};

struct entry {
  void *body; // NULL: the handle is over
  enum fake_kind kind;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct entry *entries;
static size_t used, room;

void *fake_handle(enum fake_kind kind, void *body) {
  pthread_mutex_lock(&lock);
  if (used == room) {
    room = room ? 2 * room : 64;
    entries = realloc(entries, room * sizeof *entries);
    if (!entries)
      abort();
  }
  entries[used] = (struct entry){body, kind};
  void *handle = (void *)(base + 16 * used++);
  pthread_mutex_unlock(&lock);
  return handle;
}

static struct entry *find(enum fake_kind kind, const void *handle) {
  uintptr_t n = (uintptr_t)handle - base;
  if ((uintptr_t)handle < base || n % 16 || n / 16 >= used)
    return NULL;
  struct entry *e = &entries[n / 16];
  return e->kind == kind && e->body ? e : NULL;
}

void *fake_body(enum fake_kind kind, const void *handle) {
  pthread_mutex_lock(&lock);
  struct entry *e = find(kind, handle);
  void *body = e ? e->body : NULL;
  pthread_mutex_unlock(&lock);
  return body;
}

void *fake_drop(enum fake_kind kind, const void *handle) {
  pthread_mutex_lock(&lock);
  struct entry *e = find(kind, handle);
  void *body = e ? e->body : NULL;
  if (e)
    e->body = NULL;
  pthread_mutex_unlock(&lock);
  return body;
}

int fake_live(char *text, size_t size) {
  int counts[FAKE_KINDS] = {0}, total = 0;
  pthread_mutex_lock(&lock);
  for (size_t i = 0; i < used; i++)
    if (entries[i].body && entries[i].kind != FAKE_FUNCTION)
      counts[entries[i].kind]++;
  pthread_mutex_unlock(&lock);
  int at = fake_live_memory(text, size);
  for (int k = 0; k < FAKE_KINDS; k++) {
    total += counts[k];
    if (counts[k] && (size_t)at < size)
      at += snprintf(text + at, size - (size_t)at, "%d of %s; ", counts[k], names[k]);
  }
  return total + fake_live_memory(NULL, 0);
}
