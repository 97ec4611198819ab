// The types of numbers that dsconv_numbers copies.
#ifndef DSCONV_NUMBERS_H
#define DSCONV_NUMBERS_H

#include <stdint.h>

enum {
  DSCONV_INT32 = 0,   // int32_t: indices of samples
  DSCONV_FLOAT64 = 1, // double: weights
};

#endif
