// What dsconv_next describes a batch by.
#ifndef DSCONV_BATCH_H
#define DSCONV_BATCH_H

#include <stdint.h>

typedef struct {
  void *images;        // the block that they are in
  int64_t n;           // images
  int64_t end;         // position in the epoch behind the step, over all ranks
  int64_t skipped;     // bad samples that are missing
  int64_t substituted; // those in whose place others are
} dsconv_batch;

#endif
