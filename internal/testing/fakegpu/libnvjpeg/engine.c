// The JPEG engine. It runs beside the streams: what a stream still has to do is not waited for before a
// batch, while the stream does wait for the batch's end. A batch that begins before the host has waited for
// the last one spoils that one (seen on H100).
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fakenv.h"

enum { LARGEST = 16384 };

struct task {
  const unsigned char *data;
  size_t size;
  struct target target;
};

// A batch. It has two owners, the state and the op in the stream.
struct job {
  struct fake_stream *stream;
  uint64_t ticket;
  int owners, n;
  pthread_mutex_t lock; // held while it is decoded or spoiled
  bool decoded, spoiled;
  struct task tasks[];
};

static void leave(struct job *j) {
  if (__atomic_sub_fetch(&j->owners, 1, __ATOMIC_SEQ_CST) == 0)
    free(j);
}

static void decode(struct job *j) {
  pthread_mutex_lock(&j->lock);
  for (int i = 0; i < j->n && !j->decoded; i++) {
    struct task *t = &j->tasks[i];
    struct pixels p;
    fake_counted("engine images");
    // what is damaged comes out as it comes out: grey where something is missing, or not at all
    if (fake_decode(t->data, t->size, &t->target.params, t->target.interpolate, &p) == NV_OK)
      fake_write(&t->target, &p, fake_skip(), j->spoiled);
    free(p.bytes);
  }
  j->decoded = true;
  pthread_mutex_unlock(&j->lock);
}

static void run(void *argument, bool alive) {
  struct job *j = argument;
  if (alive)
    decode(j);
  leave(j);
}

void fake_end_job(struct state *s) {
  if (!s->last)
    return;
  if (!fake_done(s->last->stream, s->last->ticket))
    fake_violation("a state of nvJPEG ended while its last batch was being decoded");
  leave(s->last);
  s->last = NULL;
}

// Spoils the last batch, whether it was decoded already or not.
static void spoil(struct job *j) {
  fake_violation("the engine was called before the host had waited for its last batch");
  pthread_mutex_lock(&j->lock);
  j->spoiled = true;
  for (int i = 0; i < j->n && j->decoded; i++) {
    unsigned char *at = fake_device((uint64_t)j->tasks[i].target.image.channel[0], 1);
    if (at)
      *at ^= 0x55;
  }
  pthread_mutex_unlock(&j->lock);
}

// What the engine takes: 0 is yes.
static int refused(const struct header *h, const struct params *p) {
  bool css = h->css == NV_CSS_444 || h->css == NV_CSS_422 || h->css == NV_CSS_420 || h->css == NV_CSS_440 ||
             h->css == NV_CSS_GRAY;
  bool plain = h->encoding == NV_BASELINE && h->precision == 8 && h->scan_components == h->components &&
               css && h->width <= LARGEST && h->height <= LARGEST;
  bool scaled_roi = p->scale && p->width >= 0;
  return !plain || scaled_roi || p->orientation > 1;
}

#ifndef FAKE_OLD
nvjpegStatus_t nvjpegDecodeBatchedSupportedEx(nvjpegHandle_t handle, nvjpegJpegStream_t stream,
                                              nvjpegDecodeParams_t params, int *unsupported) {
  NV_ENTER();
  struct library *l = fake_body(FAKE_NVJPEG, handle);
  struct stream *s = fake_body(FAKE_NVJPEG_STREAM, stream);
  struct params *p = fake_body(FAKE_NVJPEG_PARAMS, params);
  if (!l || !s || !s->parsed || !p || !unsupported)
    return NV_INVALID_PARAMETER;
  if (fake_roi(&s->header, p) == NV_INVALID_PARAMETER)
    return NV_INVALID_PARAMETER;
  *unsupported = l->backend != NV_HARDWARE || refused(&s->header, p) || fake_strike("unsupported");
  return NV_OK;
}
#endif

nvjpegStatus_t nvjpegDecodeBatchedSupported(nvjpegHandle_t handle, nvjpegJpegStream_t stream,
                                            int *unsupported) {
  NV_ENTER();
  struct library *l = fake_body(FAKE_NVJPEG, handle);
  struct stream *s = fake_body(FAKE_NVJPEG_STREAM, stream);
  if (!l || !s || !s->parsed || !unsupported)
    return NV_INVALID_PARAMETER;
  *unsupported =
      l->backend != NV_HARDWARE || refused(&s->header, &(struct params){.width = -1, .height = -1});
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStateCreate(nvjpegHandle_t handle, nvjpegJpegState_t *state) {
  NV_ENTER_GPU();
  struct library *l = fake_body(FAKE_NVJPEG, handle);
  if (!l || !state)
    return NV_INVALID_PARAMETER;
  struct state *s = calloc(1, sizeof *s);
  s->library = l;
  *state = fake_handle(FAKE_NVJPEG_STATE, s);
  return NV_OK;
}

nvjpegStatus_t nvjpegJpegStateDestroy(nvjpegJpegState_t state) {
  int status = fake_nv_enter(__func__);
  struct state *s = fake_drop(FAKE_NVJPEG_STATE, state);
  if (!s)
    return NV_INVALID_PARAMETER;
  fake_end_job(s);
  if (s->internal)
    fake_free(s->internal);
  free(s);
  return status;
}

// The memory of a state is its last batch's until the host has waited for that.
static void check_idle(const struct state *s, const char *function) {
  if (s->last && !fake_observed(s->last->stream, s->last->ticket))
    fake_violation("%s was called before the host had waited for the state's last batch", function);
}

static int grow(struct state *s, size_t size) {
  if (size <= s->internal_size)
    return NV_OK;
  if (s->internal)
    fake_free(s->internal);
  s->internal = s->internal_size = 0;
  if (fake_allocate(&s->internal, size))
    return NV_ALLOCATOR_FAILURE;
  s->internal_size = size;
  return NV_OK;
}

nvjpegStatus_t nvjpegDecodeBatchedPreAllocate(nvjpegHandle_t handle, nvjpegJpegState_t state, int n,
                                              int width, int height, nvjpegChromaSubsampling_t css,
                                              nvjpegOutputFormat_t format) {
  NV_ENTER_GPU();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  if (!fake_body(FAKE_NVJPEG, handle) || !s || s->decoder || n < 1 || width < 1 || height < 1 ||
      (int)css < 0 || (int)format < 0)
    return NV_INVALID_PARAMETER;
  check_idle(s, __func__);
  return grow(s, (size_t)n * (size_t)width * (size_t)height * 3);
}

nvjpegStatus_t nvjpegDecodeBatchedInitialize(nvjpegHandle_t handle, nvjpegJpegState_t state, int n,
                                             int threads, nvjpegOutputFormat_t format) {
  NV_ENTER_GPU();
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  if (!fake_body(FAKE_NVJPEG, handle) || !s || s->decoder || n < 1 || threads < 1)
    return NV_INVALID_PARAMETER;
  check_idle(s, __func__);
  s->batch = n;
  s->format = (int)format;
  return NV_OK;
}

#ifndef FAKE_OLD
static int prepare(struct task *t, const struct state *s, const unsigned char *data, size_t size,
                   const nvjpegImage_t *image, const struct params *p) {
  struct header h;
  int width, height, status = (int)fake_strike("image");
  if (status || !p || !data)
    return status ? status : NV_INVALID_PARAMETER;
  *t = (struct task){data, size, {*image, *p, s->library->interpolate}};
  if ((status = fake_header(data, size, &h)) || (status = fake_roi(&h, p)))
    return status;
  if (p->format != s->format)
    return NV_INVALID_PARAMETER;
  if (refused(&h, p))
    return NV_JPEG_NOT_SUPPORTED;
  fake_size(&h, p, &width, &height);
  return fake_check_target(&t->target, width, height);
}

nvjpegStatus_t nvjpegDecodeBatchedEx(nvjpegHandle_t handle, nvjpegJpegState_t state,
                                     const unsigned char *const *data, const size_t *sizes,
                                     nvjpegImage_t *images, nvjpegDecodeParams_t *params,
                                     cudaStream_t stream) {
  NV_ENTER_GPU();
  struct library *l = fake_body(FAKE_NVJPEG, handle);
  struct state *s = fake_body(FAKE_NVJPEG_STATE, state);
  struct fake_stream *on = fake_stream_of(stream);
  if (!l || l->backend != NV_HARDWARE || !s || s->library != l || s->batch < 1 || !on)
    return NV_INVALID_PARAMETER;
  struct job *j = calloc(1, sizeof *j + (size_t)s->batch * sizeof *j->tasks);
  *j = (struct job){.stream = on, .owners = 2, .n = s->batch, .lock = PTHREAD_MUTEX_INITIALIZER};
  for (int i = 0, status; i < j->n; i++)
    if ((status = prepare(&j->tasks[i], s, data[i], sizes[i], &images[i],
                          fake_body(FAKE_NVJPEG_PARAMS, params[i])))) {
      free(j);
      return status;
    }
  if (s->last && !fake_observed(s->last->stream, s->last->ticket))
    spoil(s->last);
  if (s->last)
    leave(s->last);
  s->last = j;
  if (!fake_setting("slow", 0) && (!fake_idle(on) || fake_random(2)))
    decode(j); // at once, before what the stream still has to do
  j->ticket = fake_enqueue(on, run, j);
  return NV_OK;
}
#endif
