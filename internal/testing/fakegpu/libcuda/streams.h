// Streams as the driver's functions use them.
#ifndef DSCONV_FAKE_STREAMS_H
#define DSCONV_FAKE_STREAMS_H

#include "../fake.h"
#include "cu.h"

struct fake_event {
  struct fake_event *next;    // all that ever were: a stream may still write in a destroyed one
  struct fake_stream *stream; // NULL: not recorded yet, which counts as done
  uint64_t ticket;
  uint64_t when; // nanoseconds at which it was reached
};

void *fake_stream_create(uintptr_t context, bool blocking);
void fake_stream_end(struct fake_stream *s);
void fake_stream_wait(struct fake_stream *s, struct fake_stream *other, uint64_t ticket);
uint64_t fake_stream_tail(struct fake_stream *s);
uintptr_t fake_stream_context(struct fake_stream *s);
int fake_query(struct fake_stream *s, uint64_t ticket);
int fake_synchronize_all(void);

#endif
