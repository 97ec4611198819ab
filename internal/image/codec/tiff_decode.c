#include "tiff_decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tiffio.h>

// TIFFOpenOptions came with 4.5.0. Before, errors were printed by handlers of the whole process.
#define HAS_OPTIONS (TIFFLIB_VERSION >= 20221213)

#if !HAS_OPTIONS
#include <pthread.h>
static void silence(void) {
  TIFFSetErrorHandler(NULL);
  TIFFSetWarningHandler(NULL);
}
static pthread_once_t silenced = PTHREAD_ONCE_INIT;
#endif

typedef struct {
  const uint8_t *data;
  uint64_t size, at;
  int past_end; // a read began or ended after the data
  char *message;
} source;

static tmsize_t read_source(thandle_t h, void *to, tmsize_t n) {
  source *s = (source *)h;
  if (n <= 0)
    return 0;
  uint64_t left = s->at < s->size ? s->size - s->at : 0;
  if ((uint64_t)n > left) {
    s->past_end = 1;
    n = (tmsize_t)left;
  }
  if (n > 0)
    memcpy(to, s->data + s->at, (size_t)n);
  s->at += (uint64_t)n;
  return n;
}

static tmsize_t write_nothing(thandle_t h, void *from, tmsize_t n) {
  (void)h, (void)from, (void)n;
  return 0;
}

static toff_t seek_source(thandle_t h, toff_t to, int whence) {
  source *s = (source *)h;
  uint64_t base = whence == SEEK_CUR ? s->at : whence == SEEK_END ? s->size : 0;
  s->at = base + to;
  return s->at;
}

static int close_source(thandle_t h) {
  (void)h;
  return 0;
}

static toff_t size_of_source(thandle_t h) { return ((source *)h)->size; }

#if HAS_OPTIONS
static int keep_error(TIFF *t, void *user, const char *module, const char *format, va_list args) {
  (void)t;
  char *message = user;
  if (message[0] == 0) {
    int n = module == NULL ? 0 : snprintf(message, 256, "%.60s: ", module);
    if (n >= 0 && n < 255)
      vsnprintf(message + n, 256 - (size_t)n, format, args);
  }
  return 1;
}

static int ignore_warning(TIFF *t, void *user, const char *module, const char *format, va_list args) {
  (void)t, (void)user, (void)module, (void)format, (void)args;
  return 1;
}
#endif

static TIFF *open_source(source *s, uint64_t max_alloc) {
  const char *mode = "rmC"; // m: no memory mapping; C: long uncompressed strips in parts
#if HAS_OPTIONS
  TIFFOpenOptions *o = TIFFOpenOptionsAlloc();
  if (o == NULL)
    return NULL;
  TIFFOpenOptionsSetMaxSingleMemAlloc(o, (tmsize_t)max_alloc);
  TIFFOpenOptionsSetErrorHandlerExtR(o, keep_error, s->message);
  TIFFOpenOptionsSetWarningHandlerExtR(o, ignore_warning, NULL);
  TIFF *t = TIFFClientOpenExt("image", mode, (thandle_t)s, read_source, write_nothing, seek_source,
                              close_source, size_of_source, NULL, NULL, o);
  TIFFOpenOptionsFree(o);
  return t;
#else
  (void)max_alloc;
  pthread_once(&silenced, silence);
  return TIFFClientOpen("image", mode, (thandle_t)s, read_source, write_nothing, seek_source, close_source,
                        size_of_source, NULL, NULL);
#endif
}

static int stopped(const uint32_t *stop) {
  return stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED) != 0;
}

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

// rows_of_block is the number of rows of a strip or tile.
static uint32_t rows_of_block(TIFF *t, uint32_t h) {
  uint32_t rows = 0;
  int found = TIFFIsTiled(t) ? TIFFGetField(t, TIFFTAG_TILELENGTH, &rows)
                             : TIFFGetFieldDefaulted(t, TIFFTAG_ROWSPERSTRIP, &rows);
  return found == 1 && rows > 0 && rows < h ? rows : h;
}

static int decode_rgba(TIFF *t, const dsconv_tiff_request *r, uint8_t *dst, const uint32_t *stop) {
  TIFFRGBAImage img;
  char why[1024] = "";
  if (TIFFTileSize64(t) > r->max_block || TIFFStripSize64(t) > r->max_block)
    return DSCONV_TIFF_CORRUPT;
  if (!TIFFRGBAImageOK(t, why) || !TIFFRGBAImageBegin(&img, t, 0, why))
    return DSCONV_TIFF_CORRUPT;
  img.orientation = ORIENTATION_TOPLEFT;
  img.req_orientation = ORIENTATION_TOPLEFT;
  img.col_offset = 0;
  int status = img.width == r->w && img.height == r->h ? DSCONV_TIFF_OK : DSCONV_TIFF_CORRUPT;
  uint32_t rows = rows_of_block(t, r->h);
  for (uint32_t y = 0; y < r->h && status == DSCONV_TIFF_OK; y += least(rows, r->h - y)) {
    img.row_offset = (int)y;
    if (stopped(stop))
      status = DSCONV_TIFF_STOPPED;
    else if (!TIFFRGBAImageGet(&img, (uint32_t *)(void *)(dst + r->row * y), r->w, least(rows, r->h - y)))
      status = DSCONV_TIFF_CORRUPT;
  }
  TIFFRGBAImageEnd(&img);
  return status;
}

static int decode_strips(TIFF *t, const dsconv_tiff_request *r, uint8_t *dst, const uint32_t *stop,
                         uint8_t *block, tmsize_t size) {
  uint32_t rows = rows_of_block(t, r->h);
  tmsize_t stride = TIFFScanlineSize(t);
  if (stride <= 0 || (uint64_t)stride != r->row || (uint64_t)size < (uint64_t)stride * rows)
    return DSCONV_TIFF_CORRUPT;
  for (uint32_t y = 0; y < r->h; y += least(rows, r->h - y)) {
    uint32_t n = least(rows, r->h - y);
    for (uint32_t plane = 0; plane < r->planes; plane++) {
      if (stopped(stop))
        return DSCONV_TIFF_STOPPED;
      if (TIFFReadEncodedStrip(t, TIFFComputeStrip(t, y, (uint16_t)plane), block, size) == -1)
        return DSCONV_TIFF_CORRUPT;
      memcpy(dst + r->row * ((uint64_t)plane * r->h + y), block, r->row * n);
    }
  }
  return DSCONV_TIFF_OK;
}

static int decode_tiles(TIFF *t, const dsconv_tiff_request *r, uint8_t *dst, const uint32_t *stop,
                        uint8_t *block, tmsize_t size) {
  uint32_t w = 0, rows = 0;
  uint16_t bits = 1, samples = 1;
  TIFFGetFieldDefaulted(t, TIFFTAG_BITSPERSAMPLE, &bits);
  TIFFGetFieldDefaulted(t, TIFFTAG_SAMPLESPERPIXEL, &samples);
  tmsize_t stride = TIFFTileRowSize(t);
  if (TIFFGetField(t, TIFFTAG_TILEWIDTH, &w) != 1 || TIFFGetField(t, TIFFTAG_TILELENGTH, &rows) != 1 ||
      w == 0 || rows == 0 || stride <= 0 || (uint64_t)size < (uint64_t)stride * rows)
    return DSCONV_TIFF_CORRUPT;
  if (r->planes > 1)
    samples = 1;
  if ((uint64_t)w * bits * samples % 8 != 0) // the format asks for multiples of 16 pixels
    return DSCONV_TIFF_UNSUPPORTED;
  for (uint32_t y = 0; y < r->h; y += least(rows, r->h - y)) {
    for (uint32_t plane = 0; plane < r->planes; plane++) {
      uint64_t at = 0;
      for (uint32_t x = 0; x < r->w; x += least(w, r->w - x), at += (uint64_t)stride) {
        if (stopped(stop))
          return DSCONV_TIFF_STOPPED;
        if (at >= r->row || TIFFReadTile(t, block, x, y, 0, (uint16_t)plane) == -1)
          return DSCONV_TIFF_CORRUPT;
        uint64_t n = r->row - at < (uint64_t)stride ? r->row - at : (uint64_t)stride;
        for (uint32_t k = 0; k < least(rows, r->h - y); k++)
          memcpy(dst + r->row * ((uint64_t)plane * r->h + y + k) + at, block + (uint64_t)stride * k, n);
      }
    }
  }
  return DSCONV_TIFF_OK;
}

static int decode_blocks(TIFF *t, const dsconv_tiff_request *r, uint8_t *dst, const uint32_t *stop) {
  if (r->jpeg_rgb)
    TIFFSetField(t, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
  tmsize_t size = TIFFIsTiled(t) ? TIFFTileSize(t) : TIFFStripSize(t);
  if (size <= 0 || (uint64_t)size > r->max_block)
    return DSCONV_TIFF_CORRUPT;
  uint8_t *block = calloc(1, (size_t)size);
  if (block == NULL)
    return DSCONV_TIFF_MEMORY;
  int status = TIFFIsTiled(t) ? decode_tiles(t, r, dst, stop, block, size)
                              : decode_strips(t, r, dst, stop, block, size);
  free(block);
  return status;
}

static int decode_open(TIFF *t, const dsconv_tiff_request *r, uint8_t *dst, const uint32_t *stop) {
  uint32_t w = 0, h = 0;
  uint16_t compression = 0, planar = 0;
  TIFFGetField(t, TIFFTAG_IMAGEWIDTH, &w);
  TIFFGetField(t, TIFFTAG_IMAGELENGTH, &h);
  TIFFGetFieldDefaulted(t, TIFFTAG_COMPRESSION, &compression);
  TIFFGetFieldDefaulted(t, TIFFTAG_PLANARCONFIG, &planar);
  if (w != r->w || h != r->h || (r->planes > 1 && planar != PLANARCONFIG_SEPARATE))
    return DSCONV_TIFF_CORRUPT;
  if (!TIFFIsCODECConfigured(compression))
    return DSCONV_TIFF_UNSUPPORTED;
#ifdef TIFFTAG_DEFLATE_SUBCODEC
  // By libdeflate, a strip that holds more than its rows came out as zeros, without an error (4.5.0).
  if (compression == COMPRESSION_ADOBE_DEFLATE || compression == COMPRESSION_DEFLATE)
    TIFFSetField(t, TIFFTAG_DEFLATE_SUBCODEC, DEFLATE_SUBCODEC_ZLIB);
#endif
  return r->rgba ? decode_rgba(t, r, dst, stop) : decode_blocks(t, r, dst, stop);
}

int dsconv_tiff_has(int compression) { return TIFFIsCODECConfigured((uint16_t)compression); }

int dsconv_tiff_decode(const uint8_t *data, size_t n, const dsconv_tiff_request *r, uint8_t *dst,
                       const uint32_t *stop, char message[256]) {
  message[0] = 0;
  source s = {data, n, 0, 0, message};
  TIFF *t = open_source(&s, r->max_alloc);
  if (t == NULL)
    return s.past_end ? DSCONV_TIFF_TRUNCATED : DSCONV_TIFF_CORRUPT;
  int status = decode_open(t, r, dst, stop);
  TIFFClose(t);
  return status == DSCONV_TIFF_CORRUPT && s.past_end ? DSCONV_TIFF_TRUNCATED : status;
}
