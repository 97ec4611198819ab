// Decoding by libjpeg-turbo, and writing what came out into the GPU's memory.
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "fakenv.h"

struct failure {
  struct jpeg_error_mgr manager;
  jmp_buf out;
};

static void fail(j_common_ptr c) { longjmp(((struct failure *)c->err)->out, 1); }
static void be_quiet(j_common_ptr c) { (void)c; }

static int channels_of(int format) { return format == NV_OUT_Y || format == NV_OUT_UNCHANGED ? 1 : 3; }

// Only formats that are needed. The ROI must lie inside.
int fake_roi(const struct header *h, const struct params *p) {
  bool whole = p->width < 0 && p->height < 0;
  if (!whole && (p->x < 0 || p->y < 0 || p->width < 1 || p->height < 1 || p->width > (int)h->width - p->x ||
                 p->height > (int)h->height - p->y))
    return NV_INVALID_PARAMETER;
  if (p->format == NV_OUT_UNCHANGED && h->components != 1)
    return NV_JPEG_NOT_SUPPORTED;
  return p->format == NV_OUT_UNCHANGED || (p->format >= NV_OUT_Y && p->format <= NV_OUT_BGRI)
             ? NV_OK
             : NV_INVALID_PARAMETER;
}

void fake_size(const struct header *h, const struct params *p, int *width, int *height) {
  int by = 1 << p->scale;
  *width = p->width < 0 ? ((int)h->width + by - 1) / by : p->width;
  *height = p->height < 0 ? ((int)h->height + by - 1) / by : p->height;
}

// Like nvJPEG, it takes three components for YCbCr whatever an Adobe marker says.
static void set_colours(struct jpeg_decompress_struct *d, const struct params *p) {
  if (d->num_components == 3)
    d->jpeg_color_space = JCS_YCbCr;
  d->out_color_space = JCS_RGB;
  if (channels_of(p->format) == 1)
    d->out_color_space = JCS_GRAYSCALE;
  else if (p->format == NV_OUT_BGR || p->format == NV_OUT_BGRI)
    d->out_color_space = JCS_EXT_BGR;
}

static void read_rows(struct jpeg_decompress_struct *d, const struct params *p, struct pixels *out,
                      unsigned char *row) {
  int c = out->channels, x = p->width < 0 ? 0 : p->x, y = p->height < 0 ? 0 : p->y;
  while (d->output_scanline < d->output_height) {
    int at = (int)d->output_scanline - y;
    jpeg_read_scanlines(d, &row, 1);
    if (at >= 0 && at < out->height)
      memcpy(out->bytes + (size_t)at * out->width * c, row + (size_t)x * c, (size_t)out->width * c);
  }
}

int fake_decode(const unsigned char *data, size_t size, const struct params *p, bool interpolate,
                struct pixels *out) {
  struct jpeg_decompress_struct d;
  struct failure f;
  unsigned char *volatile row = NULL;
  out->bytes = NULL;
  d.err = jpeg_std_error(&f.manager);
  f.manager.error_exit = fail;
  f.manager.output_message = be_quiet;
  if (setjmp(f.out)) {
    jpeg_destroy_decompress(&d);
    free(row);
    free(out->bytes);
    out->bytes = NULL;
    return NV_BAD_JPEG;
  }
  jpeg_create_decompress(&d);
  jpeg_mem_src(&d, data, size);
  jpeg_read_header(&d, TRUE);
  d.scale_num = 1;
  d.scale_denom = 1u << p->scale;
  d.dct_method = JDCT_ISLOW;
  d.do_fancy_upsampling = interpolate;
  set_colours(&d, p);
  jpeg_start_decompress(&d);
  out->channels = channels_of(p->format);
  out->width = p->width < 0 ? (int)d.output_width : p->width;
  out->height = p->height < 0 ? (int)d.output_height : p->height;
  row = malloc((size_t)d.output_width * 3);
  out->bytes = calloc((size_t)out->width * out->height, (size_t)out->channels);
  read_rows(&d, p, out, row);
  out->damaged = f.manager.num_warnings > 0;
  jpeg_finish_decompress(&d);
  jpeg_destroy_decompress(&d);
  free(row);
  return NV_OK;
}

static int planes(int format) { return format == NV_OUT_RGB || format == NV_OUT_BGR ? 3 : 1; }

// The memory must be the GPU's, live and large enough.
int fake_check_target(const struct target *t, int width, int height) {
  int n = planes(t->params.format), bytes = width * channels_of(t->params.format) / n;
  for (int i = 0; i < n; i++) {
    size_t pitch = t->image.pitch[i];
    uint64_t at = (uint64_t)t->image.channel[i];
    if (pitch < (size_t)bytes)
      return NV_INVALID_PARAMETER;
    if (!fake_device(at, pitch * (size_t)(height - 1) + (size_t)bytes)) {
      fake_violation("nvJPEG was given an output outside of the GPU's allocated memory");
      return NV_INVALID_PARAMETER;
    }
  }
  return NV_OK;
}

enum skip fake_skip(void) {
  if (fake_strike("skip"))
    return ALL;
  return fake_strike("partial") ? PART : NOTHING;
}

// Which bytes of a row a partial image lacks: [from, to). kind 0: the lower rows, 1: one row, 2: the end of
// rows.
static int written_until(int kind, int y, int middle, int height, int bytes) {
  bool narrow = bytes < 32;
  if (kind == 2 && !narrow)
    return bytes - 16 - bytes % 16;
  bool lacks = kind == 1 ? y == middle : y >= height / 2;
  return lacks ? 0 : bytes;
}

static void write_plane(const struct target *t, const struct pixels *p, int plane, int kind, bool corrupt) {
  int n = planes(t->params.format), c = p->channels / n, bytes = p->width * c,
      middle = fake_random(p->height);
  size_t pitch = t->image.pitch[plane];
  char *to = fake_device((uint64_t)t->image.channel[plane], pitch * (size_t)(p->height - 1) + (size_t)bytes);
  if (!to) {
    fake_violation("nvJPEG's output was freed before the image was decoded");
    fake_lose(700);
    return;
  }
  for (int y = 0; y < p->height; y++) {
    int until = kind < 0 ? bytes : written_until(kind, y, middle, p->height, bytes);
    const unsigned char *from = p->bytes + (size_t)y * p->width * p->channels + plane;
    for (int i = 0; i < until; i++)
      to[(size_t)y * pitch + (size_t)i] = (char)((n == 1 ? from[i] : from[i * 3]) ^ (corrupt ? 0x55 : 0));
  }
}

void fake_write(const struct target *t, const struct pixels *p, enum skip skip, bool corrupt) {
  if (skip == ALL)
    return;
  int kind = skip == PART ? fake_random(3) : -1;
  for (int i = 0; i < planes(t->params.format); i++)
    write_plane(t, p, i, kind, corrupt);
}
