// Measures libjpeg-turbo alone, in C and in one thread, on images in memory. Like lab/pixels,
// it processes all images for each line of its input and answers with a line of JSON.
//
//   turbo decode IMAGES
//   turbo scaled IMAGES SHORTER               decodes at 1/8, 1/4 or 1/2, with fast settings
//   turbo recode IMAGES SHORTER QUALITY MCUS  decodes, and encodes pixels that are scaled before
//
// A final PART/PARTS selects every PARTS-th image from PART on. MCUS is the number of MCUs between
// restart markers, 0 for none.
#define _GNU_SOURCE
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jpeglib.h>

struct image {
  char *path;
  unsigned char *data, *scaled;
  unsigned long size;
  int w, h; // of scaled
};

static struct image *images;
static size_t count, capacity;
static struct jpeg_decompress_struct decoder;
static struct jpeg_compress_struct encoder;
static struct jpeg_error_mgr decoder_errors, encoder_errors;
static unsigned char *pixels, *encoded;
static size_t pixels_size;
static unsigned long encoded_size;

static void die(const char *what) {
  fprintf(stderr, "turbo: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void *grown(void *p, size_t n) {
  p = realloc(p, n);
  if (p == NULL)
    die("memory");
  return p;
}

static int add(const char *path, const struct stat *s, int type, struct FTW *f) {
  (void)s, (void)f;
  if (type != FTW_F)
    return 0;
  if (count == capacity)
    images = grown(images, (capacity = 2 * capacity + 64) * sizeof *images);
  images[count++] = (struct image){.path = strdup(path)};
  return 0;
}

static int by_path(const void *a, const void *b) {
  return strcmp(((const struct image *)a)->path, ((const struct image *)b)->path);
}

static void load(struct image *m) {
  FILE *f = fopen(m->path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0)
    die(m->path);
  m->size = (unsigned long)ftell(f);
  m->data = grown(NULL, m->size);
  rewind(f);
  if (fread(m->data, 1, m->size, f) != m->size)
    die(m->path);
  fclose(f);
}

// load_part keeps every parts-th image from part on.
static void load_part(const char *folder, size_t part, size_t parts) {
  if (nftw(folder, add, 16, FTW_PHYS) != 0)
    die(folder);
  qsort(images, count, sizeof *images, by_path);
  size_t n = 0;
  for (size_t i = part; i < count; i += parts)
    images[n++] = images[i];
  count = n;
  for (size_t i = 0; i < count; i++)
    load(&images[i]);
}

// decode decodes an image into pixels: in full size as Pillow does, or, if the length of the shorter
// side is given, with fast settings at the smallest size that is not below it.
static void decode(const struct image *m, unsigned shorter) {
  struct jpeg_decompress_struct *d = &decoder;
  jpeg_mem_src(d, m->data, m->size);
  jpeg_read_header(d, TRUE);
  d->out_color_space = JCS_RGB;
  if (shorter > 0) {
    const unsigned side = d->image_width < d->image_height ? d->image_width : d->image_height;
    for (d->scale_denom = 8; d->scale_denom > 1 && side < shorter * d->scale_denom;)
      d->scale_denom /= 2;
    d->dct_method = JDCT_IFAST;
    d->do_fancy_upsampling = FALSE;
  }
  jpeg_start_decompress(d);
  const size_t stride = (size_t)d->output_width * 3, need = stride * d->output_height;
  if (need > pixels_size)
    pixels = grown(pixels, pixels_size = need);
  while (d->output_scanline < d->output_height) {
    JSAMPROW rows[16];
    for (unsigned i = 0; i < 16; i++)
      rows[i] = pixels + (d->output_scanline + i) * stride;
    jpeg_read_scanlines(d, rows, 16);
  }
  jpeg_finish_decompress(d);
}

// scale fills m->scaled, whose shorter side has the given length, with the means of areas of pixels.
static void scale(struct image *m, int shorter) {
  const int w = (int)decoder.output_width, h = (int)decoder.output_height;
  m->w = w < h ? shorter : (int)((long)shorter * w / h);
  m->h = w < h ? (int)((long)shorter * h / w) : shorter;
  unsigned char *to = m->scaled = grown(NULL, (size_t)m->w * (size_t)m->h * 3);
  for (int y = 0; y < m->h; y++)
    for (int x = 0; x < m->w; x++)
      for (int c = 0; c < 3; c++) {
        const int left = (int)((long)x * w / m->w), right = (int)(((long)x + 1) * w / m->w);
        const int top = (int)((long)y * h / m->h), bottom = (int)(((long)y + 1) * h / m->h);
        int sum = 0, n = 0;
        for (int v = top; v < bottom || v == top; v++)
          for (int u = left; u < right || u == left; u++, n++)
            sum += pixels[((size_t)v * (size_t)w + (size_t)u) * 3 + (size_t)c];
        *to++ = (unsigned char)(sum / n);
      }
}

// interval is preprocess.restartInterval.
static unsigned interval(unsigned row, unsigned wanted) {
  const unsigned least = wanted < 3 ? wanted : 3;
  for (unsigned n = row < wanted ? row : wanted; n >= least && n > 0; n--)
    if (row % n == 0)
      return n;
  return row;
}

static void encode(const struct image *m, int quality, unsigned mcus) {
  struct jpeg_compress_struct *e = &encoder;
  unsigned long n = encoded_size;
  jpeg_mem_dest(e, &encoded, &n);
  e->image_width = (JDIMENSION)m->w;
  e->image_height = (JDIMENSION)m->h;
  e->input_components = 3;
  e->in_color_space = JCS_RGB;
  jpeg_set_defaults(e);
  jpeg_set_quality(e, quality, TRUE);
  e->restart_interval = mcus == 0 ? 0 : interval(((unsigned)m->w + 15) / 16, mcus);
  jpeg_start_compress(e, TRUE);
  while (e->next_scanline < e->image_height) {
    JSAMPROW row = m->scaled + (size_t)e->next_scanline * (size_t)m->w * 3;
    jpeg_write_scanlines(e, &row, 1);
  }
  jpeg_finish_compress(e);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int number(int argc, char **argv, int i) {
  if (i >= argc) {
    fprintf(stderr, "turbo: too few arguments\n");
    exit(2);
  }
  return atoi(argv[i]);
}

int main(int argc, char **argv) {
  const char *work = argc > 2 ? argv[1] : "";
  const int scaled = strcmp(work, "scaled") == 0, recode = strcmp(work, "recode") == 0;
  if (!scaled && !recode && strcmp(work, "decode") != 0) {
    fprintf(stderr, "turbo: write decode IMAGES, scaled IMAGES ... or recode IMAGES ...\n");
    return 2;
  }
  const int shorter = scaled || recode ? number(argc, argv, 3) : 0;
  const int quality = recode ? number(argc, argv, 4) : 0, mcus = recode ? number(argc, argv, 5) : 0;
  const char *which = argc > 3 ? strchr(argv[argc - 1], '/') : NULL;
  if (which != NULL)
    load_part(argv[2], strtoul(argv[argc - 1], NULL, 10), strtoul(which + 1, NULL, 10));
  else
    load_part(argv[2], 0, 1);

  decoder.err = jpeg_std_error(&decoder_errors);
  encoder.err = jpeg_std_error(&encoder_errors);
  jpeg_create_decompress(&decoder);
  jpeg_create_compress(&encoder);
  encoded = grown(NULL, encoded_size = 8 << 20); // more than any scaled image needs
  for (size_t i = 0; recode && i < count; i++) {
    decode(&images[i], 0);
    scale(&images[i], shorter);
  }
  printf("{\"images\":%zu}\n", count);
  fflush(stdout);
  while (getchar() != EOF) {
    const double start = now();
    for (size_t i = 0; i < count; i++) {
      decode(&images[i], scaled ? (unsigned)shorter : 0);
      if (recode)
        encode(&images[i], quality, (unsigned)mcus);
    }
    printf("{\"images\":%zu,\"seconds\":%.6f}\n", count, now() - start);
    fflush(stdout);
  }
  return 0;
}
