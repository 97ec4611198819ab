// What the files of the fake nvJPEG share.
#ifndef DSCONV_FAKE_FAKENV_H
#define DSCONV_FAKE_FAKENV_H

#include "../fake.h"
#include "nv.h"

// What the markers before the first scan say.
struct header {
  unsigned width, height, precision, components;
  int encoding; // the number of the SOF marker
  struct {
    unsigned h, v;
  } factors[4];
  unsigned scan_components; // of the first scan
  int css;
  int orientation; // from EXIF
};

int fake_header(const unsigned char *data, size_t size, struct header *h);

struct library {
  int backend;
  bool interpolate;
};

struct stream {
  const unsigned char *data; // as given, unless the bytes are kept
  size_t size;
  bool parsed, whole; // the header; all of it, so that it can be decoded
  bool broken;        // parses nothing more
  unsigned char *kept;
  struct header header;
};

struct params {
  int format, x, y, width, height, scale, orientation;
  bool cmyk;
};

// An image in the GPU's memory that is to be written.
struct target {
  nvjpegImage_t image;
  struct params params;
  bool interpolate;
};

// Pixels of a decoded image, by rows, channels interleaved; of the ROI alone.
struct pixels {
  unsigned char *bytes;
  int width, height, channels;
  bool damaged; // libjpeg warned, and filled something in
};

int fake_roi(const struct header *h, const struct params *p);
int fake_decode(const unsigned char *data, size_t size, const struct params *p, bool interpolate,
                struct pixels *out);
int fake_check_target(const struct target *t, int width, int height);
// Writes pixels where t wants them. skip says what a hostile mode leaves out.
enum skip { NOTHING, ALL, PART };
void fake_write(const struct target *t, const struct pixels *p, enum skip skip, bool corrupt);
enum skip fake_skip(void);

// The sizes of what decoding t writes.
void fake_size(const struct header *h, const struct params *p, int *width, int *height);

struct buffer {
  char *at; // pinned memory, or the GPU's address
  size_t size;
  bool device;
  struct fake_stream *stream; // which still uses it until ticket is done
  uint64_t ticket;
};
bool fake_buffer_busy(const struct buffer *b);
int fake_buffer_resize(struct buffer *b, size_t size);

// What nvjpegJpegStateCreate and nvjpegDecoderStateCreate make.
struct state {
  struct library *library;
  // batches
  int batch, format;
  uint64_t internal; // memory of the GPU, from nvjpegDecodeBatchedPreAllocate
  size_t internal_size;
  struct job *last;
  // one image
  bool decoder;
  struct buffer *pinned, *device;
  int stage; // 0 nothing, 1 DecodeJpegHost, 2 TransferToDevice was called
  struct target target;
  int width, height, channels;
};
void fake_end_job(struct state *s); // forgets the last batch, and complains if it may still run

// The beginning of a function.
#define NV_ENTER()                                                                                           \
  do {                                                                                                       \
    int status_ = fake_nv_enter(__func__);                                                                   \
    if (status_)                                                                                             \
      return status_;                                                                                        \
  } while (0)
// And of one that works on the GPU.
#define NV_ENTER_GPU()                                                                                       \
  do {                                                                                                       \
    NV_ENTER();                                                                                              \
    if (fake_lost() || !fake_context())                                                                      \
      return fake_no_context(__func__);                                                                      \
  } while (0)
int fake_nv_enter(const char *function);
int fake_no_context(const char *function);

#endif
