#include "libjpeg.h"

#include "huffman_decode.h"
#include "libjpeg_layout.h"
#include "monitor.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

struct dsconv_jpeg_decoder {
  struct jpeg_decompress_struct c;
  struct jpeg_error_mgr err;
  struct jpeg_source_mgr src;
  dsconv_monitor monitor;
  jmp_buf jump;
  int code; // of libjpeg's last error
  char error[JMSG_LENGTH_MAX];
  char warning[JMSG_LENGTH_MAX];
  uint8_t *row; // for colours that libjpeg does not convert
  size_t row_cap;
  dsconv_scan *scan; // NULL if libjpeg's decoder cannot be replaced
};

static void on_error(j_common_ptr c) {
  dsconv_jpeg_decoder *d = c->client_data;
  c->err->format_message(c, d->error);
  d->code = dsconv_libjpeg_error(&d->monitor, c);
  longjmp(d->jump, 1);
}

static void on_message(j_common_ptr c, int level) {
  dsconv_jpeg_decoder *d = c->client_data;
  if (level >= 0)
    return;
  c->err->num_warnings++;
  if (d->warning[0] == 0) {
    c->err->format_message(c, d->warning);
  }
}

static void ignore_output(j_common_ptr c) { (void)c; }

// The source is the whole file: if libjpeg asks for more, the file is truncated. As in Pillow, libjpeg is
// suspended and no EOI is inserted, so that the same files are refused.
static void source_nothing(j_decompress_ptr c) { (void)c; }

static boolean source_fill(j_decompress_ptr c) {
  (void)c;
  return FALSE;
}

static void source_skip(j_decompress_ptr c, long n) {
  if (n <= 0)
    return;
  if ((size_t)n > c->src->bytes_in_buffer)
    n = (long)c->src->bytes_in_buffer;
  c->src->next_input_byte += n;
  c->src->bytes_in_buffer -= (size_t)n;
}

dsconv_jpeg_decoder *dsconv_jpeg_decoder_new(void) {
  dsconv_jpeg_decoder *d = calloc(1, sizeof *d);
  if (d == NULL)
    return NULL;
  d->src.init_source = source_nothing;
  d->src.fill_input_buffer = source_fill;
  d->src.skip_input_data = source_skip;
  d->src.resync_to_restart = jpeg_resync_to_restart;
  d->src.term_source = source_nothing;
  if (dsconv_scan_can_attach() && (d->scan = dsconv_scan_new()) == NULL) {
    free(d);
    return NULL;
  }
  return d;
}

void dsconv_jpeg_decoder_free(dsconv_jpeg_decoder *d) {
  if (d == NULL)
    return;
  dsconv_scan_free(d->scan);
  free(d->row);
  free(d);
}

const char *dsconv_jpeg_slow_reason(void) { return dsconv_jpeg_layout_differs(); }

const char *dsconv_jpeg_decoder_error(dsconv_jpeg_decoder *d) { return d->error; }
const char *dsconv_jpeg_decoder_warning(dsconv_jpeg_decoder *d) { return d->warning; }

static int fail(dsconv_jpeg_decoder *d, int code, const char *text) {
  snprintf(d->error, sizeof d->error, "%s", text);
  return code;
}

// luma is ITU-R 601-2 in the fixed point of Pillow's Convert.c.
static inline uint8_t luma(unsigned r, unsigned g, unsigned b) {
  return (uint8_t)((r * 19595 + g * 38470 + b * 7471 + 0x8000) >> 16);
}

static inline unsigned muldiv255(unsigned a, unsigned b) {
  unsigned t = a * b + 128;
  return ((t >> 8) + t) >> 8;
}

// convert_row converts w pixels of row to dst. Adobe's CMYK is stored inverted: with
// C = 255-c and nk = k, this is Pillow's cmyk2rgb.
static void convert_row(uint8_t *dst, const uint8_t *row, uint32_t w, int from, int to) {
  for (uint32_t x = 0; x < w; x++, row += from, dst += to) {
    unsigned r = row[0], g = row[1], b = row[2];
    if (from == 4) {
      unsigned nk = row[3];
      r = nk - muldiv255(255 - r, nk);
      g = nk - muldiv255(255 - g, nk);
      b = nk - muldiv255(255 - b, nk);
    }
    if (to == 1) {
      dst[0] = luma(r, g, b);
    } else {
      dst[0] = (uint8_t)r, dst[1] = (uint8_t)g, dst[2] = (uint8_t)b;
    }
  }
}

enum { ROWS = 16 }; // that are read at once

// read_direct lets libjpeg write n rows to dst.
static int read_direct(struct jpeg_decompress_struct *c, uint8_t *dst, size_t stride, JDIMENSION n) {
  JSAMPROW rows[ROWS];
  for (JDIMENSION y = 0; y < n;) {
    JDIMENSION want = n - y < ROWS ? n - y : ROWS;
    for (JDIMENSION i = 0; i < want; i++)
      rows[i] = dst + (y + i) * stride;
    JDIMENSION got = jpeg_read_scanlines(c, rows, want);
    if (got == 0)
      return 0;
    y += got;
  }
  return 1;
}

// read_region reads n rows and copies w pixels of each, from column left on, to dst.
static int read_region(dsconv_jpeg_decoder *d, uint8_t *dst, JDIMENSION left, JDIMENSION w, JDIMENSION n,
                       int channels) {
  struct jpeg_decompress_struct *c = &d->c;
  const size_t from = (size_t)c->output_components, to = (size_t)channels;
  const size_t stride = (size_t)c->output_width * from, need = stride * ROWS;
  if (d->row_cap < need) {
    free(d->row);
    d->row = malloc(need);
    d->row_cap = d->row == NULL ? 0 : need;
    if (d->row == NULL)
      return -1;
  }
  for (JDIMENSION y = 0; y < n;) {
    JDIMENSION want = n - y < ROWS ? n - y : ROWS;
    JSAMPROW rows[ROWS];
    for (JDIMENSION i = 0; i < want; i++)
      rows[i] = d->row + i * stride;
    JDIMENSION got = jpeg_read_scanlines(c, rows, want);
    if (got == 0)
      return 0;
    for (JDIMENSION i = 0; i < got; i++, dst += w * to) {
      if (from == to)
        memcpy(dst, rows[i] + left * from, w * to);
      else
        convert_row(dst, rows[i] + left * from, w, (int)from, channels);
    }
    y += got;
  }
  return 1;
}

// read_rows reads the region. One more chroma sample is decoded on its left and right, to interpolate the
// colours at its edges.
static int read_rows(dsconv_jpeg_decoder *d, uint8_t *dst, const dsconv_jpeg_request *r) {
  struct jpeg_decompress_struct *c = &d->c;
  JDIMENSION left = 0;
  if (r->region_w < c->output_width) {
    const JDIMENSION margin = 2 * (JDIMENSION)c->max_h_samp_factor;
    JDIMENSION from = r->x > margin ? r->x - margin : 0, to = r->x + r->region_w + margin;
    if (to > c->output_width)
      to = c->output_width;
    JDIMENSION width = to - from;
    if (width < c->output_width) {
      jpeg_crop_scanline(c, &from, &width);
      const int blocks = c->comps_in_scan == 1 ? 1 : c->max_h_samp_factor; // of an MCU, across
      const JDIMENSION mcu = (JDIMENSION)(blocks * c->min_DCT_scaled_size);
      dsconv_scan_columns(d->scan, from / mcu, (from + width - 1) / mcu);
    } else {
      from = 0;
    }
    left = r->x - from;
  }
  if (r->y > 0)
    jpeg_skip_scanlines(c, r->y);
  if (r->region_w == c->output_width && c->output_components == r->channels)
    return read_direct(c, dst, (size_t)r->region_w * (size_t)r->channels, r->region_h);
  return read_region(d, dst, left, r->region_w, r->region_h, r->channels);
}

static int is_frame(int marker) {
  return (marker & 0xF0) == 0xC0 && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// warn_of_missing_scans adds a warning that libjpeg does not give: it guesses the coefficients that a
// progressive image lacks, and each version guesses differently.
static void warn_of_missing_scans(dsconv_jpeg_decoder *d) {
  struct jpeg_decompress_struct *c = &d->c;
  if (!c->progressive_mode || c->coef_bits == NULL || d->warning[0] != 0)
    return;
  for (int i = 0; i < c->num_components; i++)
    for (int k = 0; k < DCTSIZE2; k++)
      if (c->coef_bits[i][k] != 0) {
        snprintf(d->warning, sizeof d->warning, "scans of the progressive image are missing");
        return;
      }
}

static int read_header(dsconv_jpeg_decoder *d, const dsconv_jpeg_request *r) {
  struct jpeg_decompress_struct *c = &d->c;
  int ok;
  do {
    ok = jpeg_read_header(c, FALSE);
  } while (ok == JPEG_HEADER_TABLES_ONLY);
  if (ok == JPEG_SUSPENDED)
    return fail(d, DSCONV_TRUNCATED, "the data end in the header");
  if (c->image_width != r->w || c->image_height != r->h)
    return fail(d, DSCONV_CORRUPT, "headers of different sizes");
  c->dct_method = r->fast ? JDCT_IFAST : JDCT_ISLOW;
  c->do_fancy_upsampling = r->fast ? FALSE : TRUE;
  c->scale_num = 1;
  c->scale_denom = (unsigned)r->scale;
  switch (c->num_components) {
  case 1:
    c->out_color_space = r->channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    return DSCONV_OK;
  case 3:
    c->out_color_space = JCS_RGB;
    return DSCONV_OK;
  case 4:
    c->out_color_space = JCS_CMYK;
    return DSCONV_OK;
  }
  return fail(d, DSCONV_CORRUPT, "unknown number of components");
}

static int decode(dsconv_jpeg_decoder *d, uint8_t *dst, const dsconv_jpeg_request *r, int attach) {
  struct jpeg_decompress_struct *c = &d->c;
  int rc = read_header(d, r);
  if (rc != DSCONV_OK)
    return rc;
  if (!jpeg_start_decompress(c))
    return fail(d, DSCONV_TRUNCATED, "the data end in the scans");
  if (attach && !dsconv_scan_attach(d->scan, c, &d->jump))
    return fail(d, DSCONV_MEMORY, "no memory for restart markers");
  if (r->x + r->region_w > c->output_width || r->y + r->region_h > c->output_height)
    return fail(d, DSCONV_CORRUPT, "the region lies outside the image");
  const int last = r->y + r->region_h == c->output_height;
  int ok = read_rows(d, dst, r);
  if (ok < 0)
    return fail(d, DSCONV_MEMORY, "no memory for rows");
  if (ok == 0)
    return fail(d, DSCONV_TRUNCATED, "the data end in the scan");
  warn_of_missing_scans(d);
  // FALSE: no end after the last row, which Pillow accepts unless another frame begins
  // (libjpeg-turbo 3 sees that at once, 2 waits for its length).
  if (last && !jpeg_finish_decompress(c) && is_frame(c->unread_marker))
    return fail(d, DSCONV_CORRUPT, "two frames");
  return DSCONV_OK;
}

// begin creates a new decompressor: libjpeg keeps quantisation and Huffman tables from image to image, so
// that a damaged file without tables would be decoded with those of another.
static void begin(dsconv_jpeg_decoder *d, const uint32_t *stop) {
  memset(&d->c, 0, sizeof d->c);
  d->monitor.reason = DSCONV_OK;
  d->c.err = jpeg_std_error(&d->err);
  d->err.error_exit = on_error;
  d->err.emit_message = on_message;
  d->err.output_message = ignore_output;
  d->c.client_data = d;
  jpeg_create_decompress(&d->c);
  dsconv_monitor_start(&d->monitor, (j_common_ptr)&d->c, stop);
  d->c.src = &d->src;
  d->error[0] = d->warning[0] = 0;
}

int dsconv_jpeg_decode(dsconv_jpeg_decoder *d, const uint8_t *data, size_t n, uint8_t *dst,
                       const dsconv_jpeg_request *r, const uint32_t *stop) {
  volatile int attach = d->scan != NULL && !r->libjpeg_only;
  if (setjmp(d->jump)) {
    jpeg_destroy_decompress(&d->c);
    if (!attach || !dsconv_scan_gave_up(d->scan))
      return d->code;
    attach = 0; // libjpeg decides
  }
  begin(d, stop);
  d->src.next_input_byte = data;
  d->src.bytes_in_buffer = n;
  int rc = decode(d, dst, r, attach);
  if (rc == DSCONV_OK && d->warning[0] != 0)
    rc |= DSCONV_WARNED;
  jpeg_destroy_decompress(&d->c);
  d->src.next_input_byte = NULL;
  return rc;
}
