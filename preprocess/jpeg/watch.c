#include "watch.h"

#include <string.h>

#include <jerror.h>

// Each scan goes through all blocks of an image, and may hold nothing. Encoders write about ten scans;
// one for each coefficient of three components would be 192. The limits are those of jpeg_scans.go.
enum { MOST_SCANS = 500, ALWAYS = 100 };
static const uint64_t MOST_PIXELS = (uint64_t)4 << 30; // of all scans together

static int too_many_scans(j_decompress_ptr c) {
  const uint64_t pixels = (uint64_t)c->image_width * c->image_height, scans = (uint64_t)c->input_scan_number;
  return scans > ALWAYS && (scans > MOST_SCANS || scans * pixels > MOST_PIXELS);
}

static void look(j_common_ptr c) {
  dsconv_watch *w = (dsconv_watch *)c->progress;
  if (dsconv_watch_stopped(w))
    w->reason = DSCONV_STOPPED;
  else if (c->is_decompressor && too_many_scans((j_decompress_ptr)c))
    w->reason = DSCONV_SCANS;
  else
    return;
  c->err->error_exit(c);
}

void dsconv_watch_over(dsconv_watch *w, j_common_ptr c, const uint32_t *stop) {
  memset(w, 0, sizeof *w);
  w->monitor.progress_monitor = look;
  w->stop = stop;
  c->progress = &w->monitor;
}

int dsconv_watch_stopped(const dsconv_watch *w) {
  return w->stop != NULL && __atomic_load_n(w->stop, __ATOMIC_RELAXED) != 0;
}

int dsconv_watch_reason(const dsconv_watch *w, j_common_ptr c) {
  if (w->reason != DSCONV_OK)
    return w->reason;
  switch (c->err->msg_code) {
  case JERR_OUT_OF_MEMORY:
  case JERR_NO_BACKING_STORE: // the user's JPEGMEM
    return DSCONV_MEMORY;
  case JERR_BAD_LIB_VERSION:
  case JERR_BAD_STRUCT_SIZE:
    return DSCONV_LIBRARY;
  }
  return DSCONV_CORRUPT;
}
