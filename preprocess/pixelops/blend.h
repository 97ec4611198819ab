// Blending elements of batches: one call an image.
#ifndef DSCONV_BLEND_H
#define DSCONV_BLEND_H

#include <stddef.h>

enum { DSCONV_BLEND_FLOAT32, DSCONV_BLEND_FLOAT16, DSCONV_BLEND_BFLOAT16 };

// dsconv_blend makes the first elements of dst themselves times share plus other's times rest,
// rounded to their type after each product and after the sum. It gives the number of them: all
// but less than 8, or none where the processor lacks AVX2 or F16C.
size_t dsconv_blend(int type, void *dst, const void *other, size_t n, float share, float rest);

#endif
