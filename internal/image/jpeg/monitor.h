// Monitors a call of libjpeg: converts its errors, ends the call early when asked, and limits the number
// of scans.
#ifndef DSCONV_JPEG_WATCH_H
#define DSCONV_JPEG_WATCH_H

#include <stdint.h>
#include <stdio.h>

#include <jpeglib.h>

#include "libjpeg.h"

// dsconv_monitor is a libjpeg progress monitor, which libjpeg calls for every row of MCUs. It reports errors
// by libjpeg's error_exit.
typedef struct {
  struct jpeg_progress_mgr progress; // must be first: libjpeg uses it
  const uint32_t *stop;              // the call ends early once this is not 0; may be NULL
  int reason;                        // DSCONV_STOPPED or DSCONV_SCANS, else 0
} dsconv_monitor;

// dsconv_monitor_start installs w in c, which must have been created.
void dsconv_monitor_start(dsconv_monitor *w, j_common_ptr c, const uint32_t *stop);

int dsconv_monitor_stopped(const dsconv_monitor *w);

// dsconv_libjpeg_error is for error_exit: it returns the code of jpeg_turbo.h for c's error.
int dsconv_libjpeg_error(const dsconv_monitor *w, j_common_ptr c);

#endif
