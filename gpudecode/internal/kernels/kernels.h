// What the kernels do, for one thread at a time: plain C99, which tests and the fake driver run, and CUDA
// C++, which `make cubins` compiles for GPUs. There are no floats: elements come from a table that the CPU
// computed.
#ifndef DSCONV_KERNELS_H
#define DSCONV_KERNELS_H

#ifdef __CUDACC_RTC__
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t, uintptr_t;
#define DSCONV_DEVICE static __device__ __forceinline__
#define DSCONV_ADD(counter, n) atomicAdd(counter, n)
#else
#include <stddef.h>
#include <stdint.h>
#define DSCONV_DEVICE static inline
#define DSCONV_ADD(counter, n) (*(counter) += (n))
#endif

// How an address in the GPU's memory becomes a pointer; an emulation may define it otherwise.
#ifndef DSCONV_POINTER
#define DSCONV_POINTER(type, address) ((type *)(uintptr_t)(address))
#endif

// The element types of a batch.
enum {
  DSCONV_STORE_UINT8,
  DSCONV_STORE_FLOAT32,
  DSCONV_STORE_FLOAT16,
  DSCONV_STORE_BFLOAT16,
  DSCONV_STORE_UINT16
};

// The fixed point of weights: 8 bits are the result's, and 2 are for negative weights (Pillow's Resample.c).
enum { DSCONV_WEIGHT_BITS = 32 - 8 - 2 };

// How many threads a block has.
enum { DSCONV_THREADS = 256 };

// One axis of a result. Pixel i is the weighted sum of taps source pixels. Its first one is word i of the
// launch's weights from start on, its weights are the words from weights + i * taps on. With taps 0 the size
// stays: pixel i is source pixel start + i.
typedef struct {
  int64_t start, weights;
  int32_t n, taps;
} dsconv_store_axis;

// One image of a batch: a window of decoded pixels, 8 bits a channel and channels interleaved, becomes an
// entry.
typedef struct {
  uint64_t source; // address of the window's first pixel
  uint64_t result; // address of the entry
  dsconv_store_axis hor, ver;
  int32_t pitch;    // bytes from row to row of the source
  int32_t channels; // 1 to 4
  int32_t vertical_first;
  int32_t flip, flip_v;  // left to right, top to bottom
  int32_t planar;        // NCHW instead of NHWC
  int32_t type;          // element type
  int32_t width, height; // of a tile of the result, in pixels: a block's share
  int32_t reserved;
} dsconv_store_job;

// A block's tile of the result, and what the first pass computes for it: pixels from (x, y) on, of which the
// direction that is not scaled yet counts in source pixels.
typedef struct {
  int32_t x, y, width, height;
  int32_t first_x, first_y, first_width, first_height;
} dsconv_store_tile;

DSCONV_DEVICE int32_t dsconv_min(int32_t a, int32_t b) { return a < b ? a : b; }

// dsconv_axis_start is the first source pixel of pixel i of an axis.
DSCONV_DEVICE int32_t dsconv_axis_start(const dsconv_store_axis *a, const int32_t *weights, int32_t i) {
  return a->taps ? weights[a->start + i] : (int32_t)a->start + i;
}

// dsconv_axis_span sets first and n to the source pixels of pixels i to i + count - 1.
DSCONV_DEVICE void dsconv_axis_span(const dsconv_store_axis *a, const int32_t *weights, int32_t i,
                                    int32_t count, int32_t *first, int32_t *n) {
  const int32_t last = dsconv_axis_start(a, weights, i + count - 1);
  *first = dsconv_axis_start(a, weights, i);
  *n = last + (a->taps ? a->taps : 1) - *first;
}

// dsconv_tile_of sets t to a block's tile and returns 0 if the image has no such tile.
DSCONV_DEVICE int dsconv_tile_of(dsconv_store_tile *t, const dsconv_store_job *j, const int32_t *weights,
                                 uint32_t block) {
  const uint32_t across = (uint32_t)((j->hor.n + j->width - 1) / j->width);
  const uint32_t down = (uint32_t)((j->ver.n + j->height - 1) / j->height);
  if (block / across >= down)
    return 0;
  t->x = (int32_t)(block % across) * j->width, t->y = (int32_t)(block / across) * j->height;
  t->width = dsconv_min(j->width, j->hor.n - t->x), t->height = dsconv_min(j->height, j->ver.n - t->y);
  t->first_x = t->x, t->first_y = t->y, t->first_width = t->width, t->first_height = t->height;
  if (j->vertical_first)
    dsconv_axis_span(&j->hor, weights, t->x, t->width, &t->first_x, &t->first_width);
  else
    dsconv_axis_span(&j->ver, weights, t->y, t->height, &t->first_y, &t->first_height);
  return 1;
}

// dsconv_weigh is a channel of pixel i of an axis, from the pixels of which the first one's channel is at
// from and the next are step bytes further.
DSCONV_DEVICE uint8_t dsconv_weigh(const dsconv_store_axis *a, const int32_t *weights, int32_t i,
                                   const uint8_t *from, int64_t step) {
  if (!a->taps)
    return *from;
  const int32_t *w = weights + a->weights + (int64_t)i * a->taps;
  int32_t sum = 1 << (DSCONV_WEIGHT_BITS - 1);
  for (int32_t k = 0; k < a->taps; k++)
    sum += from[k * step] * w[k];
  sum >>= DSCONV_WEIGHT_BITS;
  return (uint8_t)(sum < 0 ? 0 : sum > 255 ? 255 : sum);
}

// dsconv_store_first is a thread's share of the first pass: pixels of the source become those of between.
DSCONV_DEVICE void dsconv_store_first(const dsconv_store_job *j, const int32_t *weights,
                                      const dsconv_store_tile *t, uint32_t thread, uint8_t *between) {
  const uint8_t *source = DSCONV_POINTER(const uint8_t, j->source);
  const int32_t c = j->channels, n = t->first_width * t->first_height;
  const dsconv_store_axis a = j->vertical_first ? j->ver : j->hor; // a copy: registers have no address
  for (int32_t i = (int32_t)thread; i < n; i += DSCONV_THREADS) {
    const int32_t x = t->first_x + i % t->first_width, y = t->first_y + i / t->first_width;
    const int64_t step = j->vertical_first ? j->pitch : c;
    const int64_t column = j->vertical_first ? x : dsconv_axis_start(&a, weights, x);
    const int64_t row = j->vertical_first ? dsconv_axis_start(&a, weights, y) : y;
    const uint8_t *from = source + row * j->pitch + column * c;
    for (int32_t k = 0; k < c; k++)
      between[(int64_t)i * c + k] = dsconv_weigh(&a, weights, j->vertical_first ? y : x, from + k, step);
  }
}

// dsconv_store_element writes value v of channel k as element i of the entry.
DSCONV_DEVICE void dsconv_store_element(const dsconv_store_job *j, const uint32_t *table, int64_t i,
                                        int32_t k, uint8_t v) {
  if (j->type == DSCONV_STORE_UINT8)
    DSCONV_POINTER(uint8_t, j->result)[i] = v;
  else if (j->type == DSCONV_STORE_FLOAT32)
    DSCONV_POINTER(uint32_t, j->result)[i] = table[256 * k + v];
  else if (j->type == DSCONV_STORE_UINT16)
    DSCONV_POINTER(uint16_t, j->result)[i] = (uint16_t)(257 * v);
  else
    DSCONV_POINTER(uint16_t, j->result)[i] = (uint16_t)table[256 * k + v];
}

// dsconv_store_second is a thread's share of the second pass, which writes the entry. All of the first is
// done.
DSCONV_DEVICE void dsconv_store_second(const dsconv_store_job *j, const int32_t *weights,
                                       const uint32_t *table, const dsconv_store_tile *t, uint32_t thread,
                                       const uint8_t *between) {
  const int32_t c = j->channels, n = t->width * t->height;
  const dsconv_store_axis a = j->vertical_first ? j->hor : j->ver;
  const int64_t step = j->vertical_first ? c : (int64_t)t->first_width * c;
  for (int32_t i = (int32_t)thread; i < n; i += DSCONV_THREADS) {
    const int32_t x = t->x + i % t->width, y = t->y + i / t->width;
    const int32_t column = j->vertical_first ? dsconv_axis_start(&a, weights, x) - t->first_x : x - t->x;
    const int32_t row = j->vertical_first ? y - t->y : dsconv_axis_start(&a, weights, y) - t->first_y;
    const uint8_t *from = between + ((int64_t)row * t->first_width + column) * c;
    const int64_t to_x = j->flip ? j->hor.n - 1 - x : x, to_y = j->flip_v ? j->ver.n - 1 - y : y;
    const int64_t at = to_y * j->hor.n + to_x, plane = (int64_t)j->hor.n * j->ver.n;
    for (int32_t k = 0; k < c; k++) {
      const uint8_t v = dsconv_weigh(&a, weights, j->vertical_first ? x : y, from + k, step);
      dsconv_store_element(j, table, j->planar ? k * plane + at : at * c + k, k, v);
    }
  }
}

// A canary: pixels that a decoder is about to write. They are filled with a pattern that depends on a seed
// and on their place. Afterwards each run of 8 bytes that still has it was not written; a decoded image has
// one by chance once in 2^64 runs. Runs do not cross rows, unless a row is shorter than one.
typedef struct {
  uint64_t address;
  int32_t pitch;       // bytes from row to row
  int32_t width, rows; // of the pixels; width in bytes
  int32_t reserved;
} dsconv_canary;

enum { DSCONV_RUN = 8 };

// dsconv_pattern is the pattern of bytes 8*i to 8*i + 7: splitmix64's number i.
DSCONV_DEVICE uint64_t dsconv_pattern(uint64_t seed, uint64_t i) {
  uint64_t z = seed + (i + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The runs of a canary lie in lines: its rows, or all of it as one line.
typedef struct {
  int32_t length, per_line; // bytes and runs of a line
  uint32_t n;               // all runs
} dsconv_canary_runs;

DSCONV_DEVICE dsconv_canary_runs dsconv_runs_of(const dsconv_canary *c) {
  const int narrow = c->width < DSCONV_RUN;
  dsconv_canary_runs r;
  r.length = narrow ? c->width * c->rows : c->width;
  r.per_line = (r.length + DSCONV_RUN - 1) / DSCONV_RUN;
  r.n = (uint32_t)r.per_line * (uint32_t)(narrow ? 1 : c->rows);
  return r;
}

// dsconv_canary_run fills run i with the pattern, or reports whether it still has it. The last run of a line
// ends where the line does, so it may overlap the one before.
DSCONV_DEVICE int dsconv_canary_run(const dsconv_canary *c, const dsconv_canary_runs *r, uint64_t seed,
                                    uint32_t i, int fill) {
  uint8_t *base = DSCONV_POINTER(uint8_t, c->address);
  const int narrow = c->width < DSCONV_RUN;
  const int32_t line = (int32_t)(i / (uint32_t)r->per_line), n = dsconv_min(DSCONV_RUN, r->length);
  const int32_t begin = dsconv_min((int32_t)(i % (uint32_t)r->per_line) * DSCONV_RUN, r->length - n);
  uint64_t place = (uint64_t)line * (uint64_t)r->length + (uint64_t)begin;
  uint64_t pattern = dsconv_pattern(seed, place / 8) >> (place % 8 * 8);
  int same = 1;
  for (int32_t b = begin; b < begin + n; b++) {
    uint8_t *at = base + (int64_t)(narrow ? b / c->width : line) * c->pitch + (narrow ? b % c->width : b);
    if (fill)
      *at = (uint8_t)pattern;
    else
      same &= *at == (uint8_t)pattern;
    place++;
    pattern = place % 8 ? pattern >> 8 : dsconv_pattern(seed, place / 8);
  }
  return same;
}

// dsconv_canary_share fills or checks a thread's share of the runs, of threads threads in all blocks of the
// image, and returns how many still have the pattern.
DSCONV_DEVICE uint32_t dsconv_canary_share(const dsconv_canary *c, uint64_t seed, uint32_t thread,
                                           uint32_t threads, int fill) {
  const dsconv_canary_runs r = dsconv_runs_of(c);
  uint32_t n = 0;
  for (uint32_t i = thread; i < r.n; i += threads)
    n += (uint32_t)dsconv_canary_run(c, &r, seed, i, fill);
  return n;
}

#endif
