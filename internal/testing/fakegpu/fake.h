// What the fake libcuda offers to the fake libnvjpeg and to tests. Its symbols are named fake_*; all else
// that both libraries export is NVIDIA's.
#ifndef DSCONV_FAKE_H
#define DSCONV_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Modes. name[:value][@n|/n|+n]; see doc.go.
void fake_set(const char *modes); // replaces the modes, and begins to count anew; the GPU is not lost
long fake_setting(const char *name, long otherwise); // the mode's value
long fake_strike(const char *name); // the mode's value where this use of it is to be hit, else 0
int fake_random(int n);             // 0..n-1

// What went wrong and what there is. Texts are cut to size.
void fake_violation(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fake_violations(char *text, size_t size); // since the last call
int fake_live(char *text, size_t size);       // handles, allocations of device memory and pinned blocks
long fake_count(const char *name);            // calls of a function, or images of a path, since fake_set
void fake_counted(const char *name);

// Each function of the driver begins with this. It returns the status to return, 0 to go on.
int fake_enter(const char *function, bool needs_context);
int fake_lost(void);          // the sticky error, 0 if there is none
void fake_lose(int status);   // the GPU is lost from now on
uintptr_t fake_context(void); // the calling thread's current context, or 0

// Handles are numbers that no pointer has: whoever reads memory there crashes. They are never used again.
enum fake_kind {
  FAKE_CONTEXT,
  FAKE_STREAM,
  FAKE_EVENT,
  FAKE_MODULE,
  FAKE_FUNCTION,
  FAKE_NVJPEG,
  FAKE_NVJPEG_STATE,
  FAKE_NVJPEG_STREAM,
  FAKE_NVJPEG_PARAMS,
  FAKE_NVJPEG_DECODER,
  FAKE_NVJPEG_PINNED,
  FAKE_NVJPEG_DEVICE,
  FAKE_KINDS
};
void *fake_handle(enum fake_kind kind, void *body);
void *fake_body(enum fake_kind kind, const void *handle); // NULL if it is no live handle of the kind
void *fake_drop(enum fake_kind kind, const void *handle); // ends the handle, and returns its body

// Memory of the GPU. Its addresses cannot be read by the host; fake_device gives the host's address of the
// same bytes if all of them lie in one live allocation, else NULL.
int fake_allocate(uint64_t *at, size_t size); // 0, or 2: out of memory
bool fake_free(uint64_t at);
void *fake_device(uint64_t at, size_t size);
bool fake_read(void *to, uint64_t at, size_t size);          // as it is now: no stream is waited for
void *fake_range(uint64_t at, uint64_t *from, size_t *size); // the allocation that has this address
bool fake_is_device(uint64_t at);
void fake_memory_info(size_t *free_bytes, size_t *total);
void *fake_pin(size_t size);
bool fake_unpin(void *at);
bool fake_is_pinned(const void *at, size_t size);

// The part of fake_live that is memory; returns the length of text, or the number without text.
int fake_live_memory(char *text, size_t size);

// Streams. An op runs on the stream's thread; with alive false it must only free its argument.
struct fake_stream;
typedef void (*fake_op)(void *argument, bool alive);
struct fake_stream *
fake_stream_of(const void *handle); // NULL: no such stream. A NULL handle is the default stream
uint64_t fake_enqueue(struct fake_stream *s, fake_op run, void *argument);
bool fake_done(struct fake_stream *s, uint64_t ticket);     // it has run
bool fake_observed(struct fake_stream *s, uint64_t ticket); // the host has waited for it
bool fake_idle(struct fake_stream *s);                      // nothing waits in it
int fake_synchronize(struct fake_stream *s, uint64_t ticket);

#endif
