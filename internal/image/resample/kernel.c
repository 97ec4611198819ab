#include "kernel.h"

#include <string.h>

#include "levels.h"

#if defined(__x86_64__) && defined(__GNUC__)
static const dsconv_kernels *kernels(int level) {
  const int have = dsconv_level();
  switch (level < have ? level : have) {
  case DSCONV_AVX512:
    return &dsconv_avx512;
  case DSCONV_AVX2:
    return &dsconv_avx2;
  default:
    return &dsconv_portable;
  }
}
#else
static const dsconv_kernels *kernels(int level) {
  (void)level;
  return &dsconv_portable;
}
#endif

// kept_rows is how many rows of the first pass are kept for the second: enough that moving them to the
// front is rare, few enough to stay in the cache, and no more than the source has.
static size_t kept_rows(const dsconv_resampling *r) {
  const size_t wanted = 2 * (size_t)r->ver_taps + 16, most = (size_t)r->in_h + DSCONV_MAX_ROWS;
  return wanted < most ? wanted : most;
}

// copied_rows is how many rows of the source are copied at once: an image may be one row of many pixels.
static size_t copied_rows(const dsconv_resampling *r) {
  const int rows = r->vertical_first ? r->out_h : r->in_h;
  return rows < DSCONV_MAX_ROWS ? (size_t)rows : DSCONV_MAX_ROWS;
}

// One row of the source and one of the result, with slack.
static size_t in_row(const dsconv_resampling *r) {
  return (size_t)r->in_w * (size_t)r->channels + DSCONV_SLACK;
}
static size_t out_row(const dsconv_resampling *r) {
  return (size_t)r->out_w * (size_t)r->channels + DSCONV_SLACK;
}

size_t dsconv_scratch(const dsconv_resampling *r) {
  size_t n = copied_rows(r) * in_row(r) + (DSCONV_MAX_ROWS + 1) * out_row(r);
  if (r->ver_taps && r->hor_taps && !r->vertical_first)
    n += kept_rows(r) * out_row(r);
  return n;
}

// The state of one call.
typedef struct {
  const dsconv_resampling *r;
  const dsconv_kernels *k;
  dsconv_sink sink;
  dsconv_axis hor;
  const uint8_t *src, *src_end;
  const int32_t *ver_start, *ver_weights;
  uint8_t *in[DSCONV_MAX_ROWS], *out[DSCONV_MAX_ROWS]; // scratch rows
  uint8_t *kept;                                       // kept_rows of them
} image;

// is_copy reports whether rows are written as they are.
static int is_copy(const dsconv_resampling *r) {
  return r->type == DSCONV_UINT8 && !r->flip && (!r->planar || r->channels == 1);
}

// target_row is the row of the result that row y is written to.
static int target_row(const dsconv_resampling *r, int y) { return r->flip_v ? r->out_h - 1 - y : y; }

static uint8_t *copy_of(const image *m, int y) {
  return m->sink.dst + (size_t)target_row(m->r, y) * (size_t)m->r->out_w * (size_t)m->r->channels;
}

static void put_row(const image *m, int y, const uint8_t *row) {
  if (!is_copy(m->r))
    m->k->store(&m->sink, target_row(m->r, y), row);
  else if (row != copy_of(m, y))
    memcpy(copy_of(m, y), row, (size_t)m->r->out_w * (size_t)m->r->channels);
}

// readable returns row y of the source with slack after it: a copy near the end of the buffer.
static const uint8_t *readable(const image *m, int y, uint8_t *copy) {
  const uint8_t *row = m->src + (size_t)y * m->r->src_stride;
  if ((size_t)(m->src_end - row) >= in_row(m->r))
    return row;
  memcpy(copy, row, in_row(m->r) - DSCONV_SLACK);
  return copy;
}

// scale_source scales n <= k->rows rows of the source from y on.
static void scale_source(const image *m, int y, int n, uint8_t *const *out) {
  const uint8_t *in[DSCONV_MAX_ROWS];
  uint8_t *to[DSCONV_MAX_ROWS];
  for (int i = 0; i < m->k->rows; i++) {
    const int row = i < n ? i : n - 1;
    in[i] = readable(m, y + row, m->in[row]);
    to[i] = out[row];
  }
  m->k->scale(to, in, &m->hor);
}

static int min_int(int a, int b) { return a < b ? a : b; }

// sum_source computes n bytes of row y, from byte first on, from columns of the source.
static void sum_source(const image *m, int y, uint8_t *out, size_t first, size_t n) {
  const dsconv_resampling *r = m->r;
  const int start = m->ver_start[y];
  m->k->sum(out, m->src + (size_t)start * r->src_stride + first, r->src_stride, n,
            min_int(r->ver_taps, r->in_h - start), m->ver_weights + (size_t)y * (size_t)r->ver_taps);
}

static void horizontal(const image *m) {
  for (int y = 0; y < m->r->out_h; y += m->k->rows) {
    const int n = min_int(m->k->rows, m->r->out_h - y);
    scale_source(m, y, n, m->out);
    for (int i = 0; i < n; i++)
      put_row(m, y + i, m->out[i]);
  }
}

static void vertical(const image *m) {
  const size_t n = (size_t)m->r->out_w * (size_t)m->r->channels;
  for (int y = 0; y < m->r->out_h; y++) {
    uint8_t *row = is_copy(m->r) ? copy_of(m, y) : m->out[0];
    sum_source(m, y, row, 0, n);
    put_row(m, y, row);
  }
}

// vertical_horizontal sums the columns that are needed and scales the sums while they are in the cache.
static void vertical_horizontal(image *m) {
  const dsconv_resampling *r = m->r;
  const size_t c = (size_t)r->channels;
  const int ends = (r->out_w + DSCONV_GROUP - 1) / DSCONV_GROUP * DSCONV_GROUP;
  const int left = m->hor.start[0], right = min_int(m->hor.start[ends - 1] + r->hor_taps, r->in_w);
  m->hor.left = left;
  m->hor.in_w = right - left;
  for (int y = 0; y < r->out_h; y += m->k->rows) {
    const int n = min_int(m->k->rows, r->out_h - y);
    const uint8_t *in[DSCONV_MAX_ROWS];
    uint8_t *out[DSCONV_MAX_ROWS];
    for (int i = 0; i < m->k->rows; i++) {
      const int last = i < n ? i : n - 1;
      in[i] = m->in[last];
      out[i] = m->out[last];
      if (i < n)
        sum_source(m, y + i, m->in[i], (size_t)left * c, (size_t)(right - left) * c);
    }
    m->k->scale(out, in, &m->hor);
    for (int i = 0; i < n; i++)
      put_row(m, y + i, m->out[i]);
  }
}

// horizontal_vertical keeps the last rows of the first pass: source rows first up to next.
static void horizontal_vertical(const image *m) {
  const dsconv_resampling *r = m->r;
  const size_t n = (size_t)r->out_w * (size_t)r->channels, stride = out_row(r);
  const int last = r->out_h - 1, bottom = min_int(m->ver_start[last] + r->ver_taps, r->in_h);
  int first = m->ver_start[0], next = first;
  for (int y = 0; y < r->out_h; y++) {
    const int start = m->ver_start[y], taps = min_int(r->ver_taps, r->in_h - start);
    while (next < start + taps) {
      const int rows = min_int(m->k->rows, bottom - next);
      if ((size_t)(next + rows - first) > kept_rows(r)) {
        const int used = start < next ? next - start : 0;
        memmove(m->kept, m->kept + (size_t)(next - used - first) * stride, (size_t)used * stride);
        first = next - used;
      }
      uint8_t *out[DSCONV_MAX_ROWS];
      for (int i = 0; i < rows; i++)
        out[i] = m->kept + (size_t)(next + i - first) * stride;
      scale_source(m, next, rows, out);
      next += rows;
    }
    uint8_t *row = is_copy(r) ? copy_of(m, y) : m->out[0];
    m->k->sum(row, m->kept + (size_t)(start - first) * stride, stride, n, taps,
              m->ver_weights + (size_t)y * (size_t)r->ver_taps);
    put_row(m, y, row);
  }
}

// set_masks computes the masks of the store: byte i of register j of 16 pixels in the order of the result
// comes from byte masks[j][k][i] of register k of 16 pixels of a row, unless that is 0x80. In planes,
// register j has channel j.
static void set_masks(dsconv_sink *s) {
  const int c = s->r->channels;
  memset(s->masks, 0x80, sizeof s->masks);
  for (int i = 0; i < 16 * c; i++) {
    const int channel = s->r->planar ? i / 16 : i % c, x = s->r->planar ? i % 16 : i / c;
    const int from = (s->r->flip ? 15 - x : x) * c + channel;
    s->masks[i / 16][from / 16][i % 16] = (uint8_t)(from % 16);
  }
}

void dsconv_resample(const dsconv_resampling *r, void *dst, const uint8_t *src, const int32_t *hor_start,
                     const int32_t *hor_weights, const int32_t *ver_start, const int32_t *ver_weights,
                     const dsconv_values *values, uint8_t *scratch) {
  image m = {.r = r, .k = kernels(r->level), .src = src, .src_end = src + r->src_len};
  m.hor = (dsconv_axis){hor_start, hor_weights, r->hor_taps, 0, r->in_w, r->out_w, r->channels};
  m.ver_start = ver_start, m.ver_weights = ver_weights;
  for (size_t i = 0; i < DSCONV_MAX_ROWS; i++)
    m.out[i] = scratch, scratch += out_row(r);
  for (size_t i = 0; i < copied_rows(r); i++)
    m.in[i] = scratch, scratch += in_row(r);
  m.sink.r = r, m.sink.values = values, m.sink.dst = dst;
  m.sink.scratch = scratch, scratch += out_row(r);
  m.kept = scratch;
  if (!is_copy(r))
    set_masks(&m.sink);
  if (r->hor_taps && r->ver_taps)
    r->vertical_first ? vertical_horizontal(&m) : horizontal_vertical(&m);
  else if (r->hor_taps)
    horizontal(&m);
  else if (r->ver_taps)
    vertical(&m);
  else
    for (int y = 0; y < r->out_h; y++)
      put_row(&m, y, src + (size_t)y * r->src_stride);
}

int dsconv_arithmetic_is_exact(const dsconv_values *values, int channels, int type, int level) {
  const dsconv_kernels *k = kernels(level);
  uint8_t all[256];
  uint32_t got[256], want[256];
  for (int i = 0; i < 256; i++)
    all[i] = (uint8_t)i;
  for (int c = 0; c < channels; c++) {
    k->convert(type, got, all, 256, 1, values, c);
    dsconv_portable.convert(type, want, all, 256, 1, values, c);
    if (memcmp(got, want, 256 * dsconv_type_size(type)) != 0)
      return 0;
  }
  return 1;
}
