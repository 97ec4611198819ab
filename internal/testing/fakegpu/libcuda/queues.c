// The driver's functions for streams and events.
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "enter.h"
#include "streams.h"

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  ENTER(true);
  if (flags > 1)
    return CU_INVALID_VALUE;
  *stream = fake_stream_create(fake_context(), flags == 0);
  return CU_OK;
}

// The range is that of NVIDIA's GPUs since Volta. A priority outside of it is the nearest one.
CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
  ENTER(true);
  if (least)
    *least = 0;
  if (greatest)
    *greatest = -5;
  return CU_OK;
}

CUresult cuStreamCreateWithPriority(CUstream *stream, unsigned flags, int priority) {
  CUresult status = cuStreamCreate(stream, flags);
  if (!status && priority <= -5)
    fake_counted("streams of the greatest priority");
  return status;
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  int status = fake_enter(__func__, true);
  struct fake_stream *s = fake_drop(FAKE_STREAM, stream);
  if (s)
    fake_stream_end(s);
  return status ? status : s ? CU_OK : CU_INVALID_HANDLE;
}

// A stream's functions fail with the context of another device.
static struct fake_stream *stream_here(CUstream stream) {
  struct fake_stream *s = fake_stream_of(stream);
  return s && (!fake_stream_context(s) || fake_stream_context(s) == fake_context()) ? s : NULL;
}

CUresult cuStreamSynchronize(CUstream stream) {
  ENTER(true);
  struct fake_stream *s = stream_here(stream);
  if (s && !fake_idle(s))
    fake_counted("busy waits"); // with the context's usual flags a core turns in circles
  return s ? fake_synchronize(s, fake_stream_tail(s)) : CU_INVALID_HANDLE;
}

CUresult cuStreamQuery(CUstream stream) {
  ENTER(true);
  struct fake_stream *s = stream_here(stream);
  return s ? fake_query(s, fake_stream_tail(s)) : CU_INVALID_HANDLE;
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext *context) {
  ENTER(true);
  struct fake_stream *s = fake_stream_of(stream);
  if (!s)
    return CU_INVALID_HANDLE;
  *context = (CUcontext)(fake_stream_context(s) ? fake_stream_context(s) : fake_context());
  return CU_OK;
}

struct host_function {
  CUhostFn function;
  void *data;
};

static void run_host_function(void *argument, bool alive) {
  struct host_function *h = argument;
  if (alive)
    h->function(h->data);
  free(h);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *data) {
  ENTER(true);
  struct fake_stream *s = stream_here(stream);
  if (!s)
    return CU_INVALID_HANDLE;
  struct host_function *h = malloc(sizeof *h);
  *h = (struct host_function){function, data};
  fake_enqueue(s, run_host_function, h);
  return CU_OK;
}

static _Atomic(struct fake_event *) events;

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  ENTER(true);
  if (flags > 3)
    return CU_INVALID_VALUE;
  struct fake_event *e = calloc(1, sizeof *e);
  e->next = atomic_load(&events);
  while (!atomic_compare_exchange_weak(&events, &e->next, e))
    ;
  *event = fake_handle(FAKE_EVENT, e);
  return CU_OK;
}

CUresult cuEventDestroy_v2(CUevent event) {
  int status = fake_enter(__func__, true);
  void *e = fake_drop(FAKE_EVENT, event);
  return status ? status : e ? CU_OK : CU_INVALID_HANDLE;
}

static void take_time(void *argument, bool alive) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  if (alive)
    *(uint64_t *)argument = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  ENTER(true);
  struct fake_event *e = fake_body(FAKE_EVENT, event);
  struct fake_stream *s = stream_here(stream);
  if (!e || !s)
    return CU_INVALID_HANDLE;
  e->ticket = fake_enqueue(s, take_time, &e->when);
  e->stream = s;
  return CU_OK;
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  ENTER(true);
  struct fake_event *e = fake_body(FAKE_EVENT, event);
  struct fake_stream *s = stream_here(stream);
  if (!e || !s)
    return CU_INVALID_HANDLE;
  if (flags > 1)
    return CU_INVALID_VALUE;
  if (e->stream)
    fake_stream_wait(s, e->stream, e->ticket);
  return CU_OK;
}

CUresult cuEventSynchronize(CUevent event) {
  ENTER(true);
  struct fake_event *e = fake_body(FAKE_EVENT, event);
  if (!e)
    return CU_INVALID_HANDLE;
  return e->stream ? fake_synchronize(e->stream, e->ticket) : CU_OK;
}

CUresult cuEventQuery(CUevent event) {
  ENTER(true);
  struct fake_event *e = fake_body(FAKE_EVENT, event);
  if (!e)
    return CU_INVALID_HANDLE;
  return e->stream ? fake_query(e->stream, e->ticket) : CU_OK;
}

CUresult cuEventElapsedTime_v2(float *milliseconds, CUevent start, CUevent end) {
  ENTER(true);
  struct fake_event *a = fake_body(FAKE_EVENT, start), *b = fake_body(FAKE_EVENT, end);
  if (!a || !b || !a->stream || !b->stream)
    return CU_INVALID_HANDLE;
  if (fake_query(a->stream, a->ticket) || fake_query(b->stream, b->ticket))
    return CU_NOT_READY;
  *milliseconds = (float)((double)(b->when - a->when) / 1e6);
  return CU_OK;
}
