// What watches over a call of libjpeg: what its errors mean, whether the call is to end early, and
// how often an image is gone through.
#ifndef DSCONV_JPEG_WATCH_H
#define DSCONV_JPEG_WATCH_H

#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "turbo.h"

// dsconv_watch is libjpeg's progress monitor, which libjpeg calls for every row of MCUs. Errors of
// its own go to libjpeg's error_exit.
typedef struct {
  struct jpeg_progress_mgr monitor; // first: it is what libjpeg knows
  const uint32_t *stop;             // the call ends early once this is not 0; may be NULL
  int reason;                       // DSCONV_STOPPED, DSCONV_SCANS or, so far, 0
} dsconv_watch;

// dsconv_watch_over sets w on c, which has been created.
void dsconv_watch_over(dsconv_watch *w, j_common_ptr c, const uint32_t *stop);

int dsconv_watch_stopped(const dsconv_watch *w);

// dsconv_watch_reason is for error_exit: which of jpeg_turbo.h's codes c's error is.
int dsconv_watch_reason(const dsconv_watch *w, j_common_ptr c);

#endif
