#include "libjpeg.h"

#include "monitor.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

// MAX_ROWS is how many rows are passed at once: the height of the largest MCU.
enum { MAX_ROWS = 16 };

struct dsconv_jpeg_encoder {
  struct jpeg_compress_struct c;
  struct jpeg_error_mgr err;
  struct jpeg_destination_mgr dst;
  dsconv_monitor monitor;
  jmp_buf jump;
  int code; // of an error
  char error[JMSG_LENGTH_MAX];
  uint8_t *out;
  size_t cap;
  int optimized; // the Huffman tables are those of the last image
};

static void on_error(j_common_ptr c) {
  dsconv_jpeg_encoder *e = c->client_data;
  c->err->format_message(c, e->error);
  e->code = dsconv_libjpeg_error(&e->monitor, c);
  longjmp(e->jump, 1);
}

static void ignore_output(j_common_ptr c) { (void)c; }

static void out_of_memory(dsconv_jpeg_encoder *e) {
  snprintf(e->error, sizeof e->error, "no memory for the file");
  e->code = DSCONV_MEMORY;
  longjmp(e->jump, 1);
}

static void dest_init(j_compress_ptr c) {
  dsconv_jpeg_encoder *e = c->client_data;
  e->dst.next_output_byte = e->out;
  e->dst.free_in_buffer = e->cap;
}

// dest_grow is called with the buffer full, whatever free_in_buffer says.
static boolean dest_grow(j_compress_ptr c) {
  dsconv_jpeg_encoder *e = c->client_data;
  uint8_t *p = realloc(e->out, 2 * e->cap);
  if (p == NULL)
    out_of_memory(e);
  e->out = p;
  e->dst.next_output_byte = p + e->cap;
  e->dst.free_in_buffer = e->cap;
  e->cap *= 2;
  return TRUE;
}

static void dest_end(j_compress_ptr c) { (void)c; }

dsconv_jpeg_encoder *dsconv_jpeg_encoder_new(int *wrong_library) {
  *wrong_library = 0;
  dsconv_jpeg_encoder *e = calloc(1, sizeof *e);
  if (e == NULL)
    return NULL;
  e->cap = 256 << 10;
  e->out = malloc(e->cap);
  if (e->out == NULL) {
    free(e);
    return NULL;
  }
  e->c.err = jpeg_std_error(&e->err);
  e->err.error_exit = on_error;
  e->err.output_message = ignore_output;
  e->c.client_data = e;
  if (setjmp(e->jump)) {
    *wrong_library = e->code == DSCONV_LIBRARY;
    free(e->out);
    free(e);
    return NULL;
  }
  jpeg_create_compress(&e->c);
  e->dst.init_destination = dest_init;
  e->dst.empty_output_buffer = dest_grow;
  e->dst.term_destination = dest_end;
  e->c.dest = &e->dst;
  return e;
}

void dsconv_jpeg_encoder_free(dsconv_jpeg_encoder *e) {
  if (e == NULL)
    return;
  jpeg_destroy_compress(&e->c);
  free(e->out);
  free(e);
}

const char *dsconv_jpeg_encoder_error(dsconv_jpeg_encoder *e) { return e->error; }

// standard_tables drops the last image's Huffman tables: jpeg_set_defaults keeps existing tables.
static void standard_tables(dsconv_jpeg_encoder *e) {
  jpeg_destroy_compress(&e->c);
  jpeg_create_compress(&e->c); // which clears it
  e->c.dest = &e->dst;
  e->c.progress = &e->monitor.progress;
  e->optimized = 0;
}

static void configure(dsconv_jpeg_encoder *e, int channels, dsconv_jpeg_options o) {
  struct jpeg_compress_struct *c = &e->c;
  jpeg_set_defaults(c); // 4:2:0, standard Huffman tables, JFIF without density
  jpeg_set_quality(c, o.quality, TRUE);
  c->dct_method = JDCT_ISLOW;
  if (channels == 3) {
    c->comp_info[0].h_samp_factor = o.h;
    c->comp_info[0].v_samp_factor = o.v;
  }
  if (o.progressive)
    jpeg_simple_progression(c);
  c->optimize_coding = o.optimize || o.progressive;
  c->restart_interval = o.interval;
}

static void encode(dsconv_jpeg_encoder *e, const uint8_t *pix, uint32_t w, uint32_t h, int channels,
                   dsconv_jpeg_options o) {
  struct jpeg_compress_struct *c = &e->c;
  if (e->optimized)
    standard_tables(e);
  c->image_width = w;
  c->image_height = h;
  c->input_components = channels;
  c->in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  configure(e, channels, o);
  e->optimized = c->optimize_coding;
  jpeg_start_compress(c, TRUE);
  while (c->next_scanline < h) {
    JSAMPROW rows[MAX_ROWS];
    uint32_t n = h - c->next_scanline;
    if (n > MAX_ROWS)
      n = MAX_ROWS;
    for (uint32_t i = 0; i < n; i++)
      rows[i] = (JSAMPROW)(pix + (size_t)(c->next_scanline + i) * w * (size_t)channels);
    jpeg_write_scanlines(c, rows, n);
  }
  jpeg_finish_compress(c);
}

int dsconv_jpeg_encode(dsconv_jpeg_encoder *e, const uint8_t *pix, uint32_t w, uint32_t h, int channels,
                       dsconv_jpeg_options o, const uint32_t *stop, uint8_t **out, size_t *n) {
  e->error[0] = 0;
  dsconv_monitor_start(&e->monitor, (j_common_ptr)&e->c, stop);
  if (setjmp(e->jump)) {
    jpeg_abort_compress(&e->c);
    return e->code;
  }
  encode(e, pix, w, h, channels, o);
  *out = e->out;
  *n = (size_t)(e->dst.next_output_byte - e->out);
  return DSCONV_OK;
}
