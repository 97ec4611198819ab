// What dsconv_labels describes labels by.
#ifndef DSCONV_LABELS_H
#define DSCONV_LABELS_H

#include <stdint.h>

typedef struct {
  const void *data; // the label of sample i is at byte i*stride
  int64_t n;        // labels
  int64_t stride;   // 0 if one label is that of all samples
  int64_t handle;   // which keeps data
} dsconv_labels_t;

#endif
