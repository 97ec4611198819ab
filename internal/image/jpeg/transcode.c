#include "transcode.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "huffman_encode.h"
#include "monitor.h"

struct dsconv_transcoder {
  struct jpeg_decompress_struct from, back; // the source, and the output, read again
  jvirt_barray_ptr *coefficients, *reread;
  struct jpeg_error_mgr err;
  dsconv_monitor monitor[2];
  const uint32_t *stop;
  jmp_buf jump;
  int code; // of an error that libjpeg reports now
  char text[JMSG_LENGTH_MAX];
  entropy_coder coder;
  uint8_t *out;
  size_t out_cap;
};

static void on_error(j_common_ptr c) {
  dsconv_transcoder *t = c->client_data;
  c->err->format_message(c, t->text);
  const int why = dsconv_libjpeg_error(c == (j_common_ptr)&t->back ? &t->monitor[1] : &t->monitor[0], c);
  if (why != DSCONV_CORRUPT)
    t->code = why;
  longjmp(t->jump, 1);
}

// on_message treats a warning as an error.
static void on_message(j_common_ptr c, int level) {
  if (level < 0)
    on_error(c);
}

static void ignore_output(j_common_ptr c) { (void)c; }

// keep_memory makes glibc keep freed memory for the next image. Otherwise it returns memory to the system
// and allocates it again for every image, until a block as large was freed once.
static void keep_memory(void) {
  void *volatile large = malloc(16 << 20);
  free(large);
}

dsconv_transcoder *dsconv_transcoder_new(void) {
  dsconv_transcoder *t = calloc(1, sizeof *t);
  if (t == NULL)
    return NULL;
  entropy_init(&t->coder);
  keep_memory();
  return t;
}

void dsconv_transcoder_free(dsconv_transcoder *t) {
  if (t == NULL)
    return;
  entropy_free(&t->coder);
  free(t->out);
  free(t);
}

const char *dsconv_transcoder_text(dsconv_transcoder *t) { return t->text; }

#define TEXT(x) #x
#define TEXT_OF(x) TEXT(x)
const char *dsconv_jpeg_version(void) { return TEXT_OF(LIBJPEG_TURBO_VERSION); }

static int fail(dsconv_transcoder *t, int code, const char *text) {
  snprintf(t->text, sizeof t->text, "%s", text);
  return code;
}

// begin creates a new decompressor; jpeg_turbo_decode.c says why.
static void begin(dsconv_transcoder *t, struct jpeg_decompress_struct *c, dsconv_monitor *w) {
  c->err = &t->err;
  c->client_data = t;
  w->reason = DSCONV_OK;
  jpeg_create_decompress(c);
  dsconv_monitor_start(w, (j_common_ptr)c, t->stop);
}

static jvirt_barray_ptr *read_coefficients(struct jpeg_decompress_struct *c, const uint8_t *data, size_t n) {
  jpeg_mem_src(c, data, (unsigned long)n);
  jpeg_read_header(c, TRUE);
  return jpeg_read_coefficients(c);
}

// layout is how the blocks of the components are arranged in a scan. A scan of one component has MCUs of
// one block, whatever its sampling.
typedef struct {
  JDIMENSION across, rows; // MCUs of a row, and rows of MCUs
  int w[4], h[4];          // blocks of each component in an MCU
} layout;

static layout layout_of(const struct jpeg_decompress_struct *c) {
  layout l = {0};
  for (int i = 0; i < c->num_components; i++) {
    const jpeg_component_info *p = &c->comp_info[i];
    l.w[i] = c->num_components == 1 ? 1 : p->h_samp_factor;
    l.h[i] = c->num_components == 1 ? 1 : p->v_samp_factor;
  }
  const jpeg_component_info *p = &c->comp_info[0];
  l.across = (p->width_in_blocks + (JDIMENSION)l.w[0] - 1) / (JDIMENSION)l.w[0];
  l.rows = (p->height_in_blocks + (JDIMENSION)l.h[0] - 1) / (JDIMENSION)l.h[0];
  return l;
}

// uses_second_tables reports whether a component uses the second Huffman tables, as chroma does.
static int uses_second_tables(int component) { return component == 1 || component == 2; }

static JBLOCKARRAY rows_of(struct jpeg_decompress_struct *c, jvirt_barray_ptr array, int i, const layout *l,
                           JDIMENSION row) {
  return c->mem->access_virt_barray((j_common_ptr)c, array, row * (JDIMENSION)l->h[i], (JDIMENSION)l->h[i],
                                    FALSE);
}

// code_blocks passes all blocks to the coder in the order of one interleaved scan, with those that pad the
// last MCUs of rows and columns. It returns DSCONV_OK, or why it ended early.
static int code_blocks(dsconv_transcoder *t, const layout *l, unsigned interval) {
  struct jpeg_decompress_struct *c = &t->from;
  size_t blocks = 0, mcus = 0;
  int dc[4] = {0};
  for (int i = 0; i < c->num_components; i++)
    blocks += (size_t)l->w[i] * (size_t)l->h[i];
  entropy_begin(&t->coder);
  for (JDIMENSION y = 0; y < l->rows; y++) {
    JBLOCKARRAY rows[4];
    if (dsconv_monitor_stopped(&t->monitor[0]))
      return DSCONV_STOPPED;
    for (int i = 0; i < c->num_components; i++)
      rows[i] = rows_of(c, t->coefficients[i], i, l, y);
    if (!entropy_reserve(&t->coder, blocks * l->across))
      return DSCONV_MEMORY;
    for (JDIMENSION x = 0; x < l->across; x++, mcus++) {
      if (mcus > 0 && mcus % interval == 0) {
        entropy_restart(&t->coder);
        memset(dc, 0, sizeof dc);
      }
      for (int i = 0; i < c->num_components; i++)
        for (int v = 0; v < l->h[i]; v++)
          for (int h = 0; h < l->w[i]; h++)
            entropy_block(&t->coder, rows[i][v][x * (JDIMENSION)l->w[i] + (JDIMENSION)h],
                          uses_second_tables(i), &dc[i]);
    }
  }
  return DSCONV_OK;
}

static uint8_t *put2(uint8_t *p, unsigned v) {
  *p++ = (uint8_t)(v >> 8);
  *p++ = (uint8_t)v;
  return p;
}

static uint8_t *put_marker(uint8_t *p, unsigned marker, int length) {
  return put2(put2(p, 0xFF00 + marker), (unsigned)length);
}

static int is_wide(const JQUANT_TBL *q) {
  for (int k = 0; k < 64; k++)
    if (q->quantval[k] > 255)
      return 1;
  return 0;
}

static uint8_t *put_quantization(uint8_t *p, int number, const JQUANT_TBL *q) {
  int wide = is_wide(q);
  p = put_marker(p, 0xDB, 3 + 64 * (1 + wide));
  *p++ = (uint8_t)(wide << 4 | number);
  for (int k = 0; k < 64; k++) {
    unsigned v = q->quantval[entropy_natural[k]];
    if (wide)
      p = put2(p, v);
    else
      *p++ = (uint8_t)v;
  }
  return p;
}

static uint8_t *put_frame(uint8_t *p, const struct jpeg_decompress_struct *c) {
  int wide = 0, n = c->num_components;
  for (int i = 0; i < n; i++)
    wide |= is_wide(c->comp_info[i].quant_table);
  p = put_marker(p, wide ? 0xC1 : 0xC0, 8 + 3 * n);
  *p++ = 8;
  p = put2(put2(p, c->image_height), c->image_width);
  *p++ = (uint8_t)n;
  for (int i = 0; i < n; i++) {
    const jpeg_component_info *q = &c->comp_info[i];
    *p++ = (uint8_t)q->component_id;
    *p++ = (uint8_t)(q->h_samp_factor << 4 | q->v_samp_factor);
    *p++ = (uint8_t)q->quant_tbl_no;
  }
  return p;
}

static uint8_t *put_huffman(uint8_t *p, int i, const entropy_table *t) {
  p = put_marker(p, 0xC4, 19 + t->n);
  *p++ = (uint8_t)((i & 1) << 4 | i >> 1);
  memcpy(p, t->counts + 1, 16);
  memcpy(p + 16, t->symbols, (size_t)t->n);
  return p + 16 + t->n;
}

static uint8_t *put_scan(uint8_t *p, const struct jpeg_decompress_struct *c, unsigned interval) {
  int n = c->num_components;
  p = put2(put_marker(p, 0xDD, 4), interval);
  p = put_marker(p, 0xDA, 6 + 2 * n);
  *p++ = (uint8_t)n;
  for (int i = 0; i < n; i++) {
    *p++ = (uint8_t)c->comp_info[i].component_id;
    *p++ = (uint8_t)(uses_second_tables(i) * 0x11);
  }
  *p++ = 0;
  *p++ = 63;
  *p++ = 0;
  return p;
}

// quant_tables_unique reports whether no two components use different quantisation tables of the same
// number.
static int quant_tables_unique(const struct jpeg_decompress_struct *c) {
  for (int i = 0; i < c->num_components; i++) {
    const jpeg_component_info *a = &c->comp_info[i];
    if (a->quant_table == NULL)
      return 0;
    for (int j = 0; j < i; j++) {
      const jpeg_component_info *b = &c->comp_info[j];
      if (a->quant_tbl_no == b->quant_tbl_no &&
          memcmp(a->quant_table->quantval, b->quant_table->quantval, sizeof a->quant_table->quantval) != 0)
        return 0;
    }
  }
  return 1;
}

static uint8_t *put_headers(uint8_t *p, dsconv_transcoder *t, const uint8_t *meta, size_t meta_n,
                            unsigned interval) {
  const struct jpeg_decompress_struct *c = &t->from;
  p = put2(p, 0xFFD8);
  if (meta_n > 0)
    memcpy(p, meta, meta_n);
  p += meta_n;
  unsigned have = 0;
  for (int i = 0; i < c->num_components; i++) {
    const jpeg_component_info *q = &c->comp_info[i];
    if (!(have >> q->quant_tbl_no & 1))
      p = put_quantization(p, q->quant_tbl_no, q->quant_table);
    have |= 1u << q->quant_tbl_no;
  }
  p = put_frame(p, c);
  for (int i = 0; i < ENTROPY_TABLES; i++)
    if (t->coder.tables[i].n > 0)
      p = put_huffman(p, i, &t->coder.tables[i]);
  return put_scan(p, c, interval);
}

static int reserve(dsconv_transcoder *t, size_t need) {
  if (t->out_cap >= need)
    return 1;
  free(t->out);
  t->out = malloc(need);
  t->out_cap = t->out == NULL ? 0 : need;
  return t->out != NULL;
}

static int same_component(const jpeg_component_info *a, const jpeg_component_info *b) {
  return a->component_id == b->component_id && a->h_samp_factor == b->h_samp_factor &&
         a->v_samp_factor == b->v_samp_factor && a->width_in_blocks == b->width_in_blocks &&
         a->height_in_blocks == b->height_in_blocks && b->quant_table != NULL &&
         memcmp(a->quant_table->quantval, b->quant_table->quantval, sizeof a->quant_table->quantval) == 0;
}

// same compares everything that decides the pixels.
static int same(dsconv_transcoder *t, const layout *l, unsigned interval) {
  struct jpeg_decompress_struct *a = &t->from, *b = &t->back;
  if (a->image_width != b->image_width || a->image_height != b->image_height ||
      a->num_components != b->num_components || a->jpeg_color_space != b->jpeg_color_space ||
      b->restart_interval != interval || b->progressive_mode)
    return 0;
  for (int i = 0; i < a->num_components; i++) {
    if (!same_component(&a->comp_info[i], &b->comp_info[i]))
      return 0;
    size_t row = (size_t)l->across * (size_t)l->w[i] * sizeof(JBLOCK);
    for (JDIMENSION y = 0; y < l->rows; y++) {
      JBLOCKARRAY p = rows_of(a, t->coefficients[i], i, l, y), q = rows_of(b, t->reread[i], i, l, y);
      for (int v = 0; v < l->h[i]; v++)
        if (memcmp(p[v], q[v], row) != 0)
          return 0;
    }
  }
  return 1;
}

static int transcode(dsconv_transcoder *t, const uint8_t *data, size_t n, const uint8_t *meta, size_t meta_n,
                     unsigned interval, size_t *out_n) {
  t->code = DSCONV_CORRUPT;
  t->coefficients = read_coefficients(&t->from, data, n);
  if (t->coefficients == NULL)
    return fail(t, DSCONV_CORRUPT, "the data end in the scans");
  if (t->from.num_components > 4 || !quant_tables_unique(&t->from))
    return fail(t, TRANSCODE_BEYOND, "two quantisation tables with the same number");
  layout l = layout_of(&t->from);
  const int rc = code_blocks(t, &l, interval);
  if (rc != DSCONV_OK)
    return rc;
  size_t need = entropy_tables(&t->coder);
  if (need == 0)
    return fail(t, TRANSCODE_BEYOND, "coefficients beyond a baseline JPEG's");
  enum { HEADERS = 4096 }; // for four tables of each kind and the other segments
  if (!reserve(t, need + meta_n + HEADERS))
    return DSCONV_MEMORY;
  uint8_t *p = entropy_write(&t->coder, put_headers(t->out, t, meta, meta_n, interval), t->stop);
  if (p == NULL)
    return DSCONV_STOPPED;
  p = put2(p, 0xFFD9);
  *out_n = (size_t)(p - t->out);
  t->code = TRANSCODE_DIFFERS;
  t->reread = read_coefficients(&t->back, t->out, *out_n);
  if (t->reread == NULL || !same(t, &l, interval))
    return fail(t, TRANSCODE_DIFFERS, "its coefficients differ");
  return DSCONV_OK;
}

int dsconv_transcode(dsconv_transcoder *t, const uint8_t *data, size_t n, const uint8_t *meta, size_t meta_n,
                     unsigned interval, const uint32_t *stop, uint8_t **out, size_t *out_n) {
  t->stop = stop;
  memset(&t->from, 0, sizeof t->from);
  memset(&t->back, 0, sizeof t->back);
  jpeg_std_error(&t->err);
  t->err.error_exit = on_error;
  t->err.emit_message = on_message;
  t->err.output_message = ignore_output;
  t->text[0] = 0;
  t->code = DSCONV_LIBRARY;
  int rc;
  if (setjmp(t->jump)) {
    rc = t->code;
  } else {
    begin(t, &t->from, &t->monitor[0]);
    begin(t, &t->back, &t->monitor[1]);
    rc = transcode(t, data, n, meta, meta_n, interval, out_n);
    *out = t->out;
  }
  jpeg_destroy_decompress(&t->from);
  jpeg_destroy_decompress(&t->back);
  return rc;
}
