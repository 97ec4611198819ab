#include "monitor.h"

#include <string.h>

#include <jerror.h>

// Each scan goes through all blocks of an image, though its data may be a few bytes. Encoders write about
// ten scans; one for each coefficient of three components would be 192. segments.go has the same limits.
enum { MAX_SCANS = 500, SCANS_OF_ANY_SIZE = 100 };
static const uint64_t MAX_SCAN_PIXELS = (uint64_t)4 << 30; // of all scans together

static int too_many_scans(j_decompress_ptr c) {
  const uint64_t pixels = (uint64_t)c->image_width * c->image_height, scans = (uint64_t)c->input_scan_number;
  return scans > SCANS_OF_ANY_SIZE && (scans > MAX_SCANS || scans * pixels > MAX_SCAN_PIXELS);
}

static void check_progress(j_common_ptr c) {
  dsconv_monitor *w = (dsconv_monitor *)c->progress;
  if (dsconv_monitor_stopped(w))
    w->reason = DSCONV_STOPPED;
  else if (c->is_decompressor && too_many_scans((j_decompress_ptr)c))
    w->reason = DSCONV_SCANS;
  else
    return;
  c->err->error_exit(c);
}

void dsconv_monitor_start(dsconv_monitor *w, j_common_ptr c, const uint32_t *stop) {
  memset(w, 0, sizeof *w);
  w->progress.progress_monitor = check_progress;
  w->stop = stop;
  c->progress = &w->progress;
}

int dsconv_monitor_stopped(const dsconv_monitor *w) {
  return w->stop != NULL && __atomic_load_n(w->stop, __ATOMIC_RELAXED) != 0;
}

int dsconv_libjpeg_error(const dsconv_monitor *w, j_common_ptr c) {
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
