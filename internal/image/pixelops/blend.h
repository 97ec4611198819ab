// Blending elements of batches: one call an image.
#ifndef DSCONV_BLEND_H
#define DSCONV_BLEND_H

#include <stddef.h>

enum { DSCONV_BLEND_FLOAT32, DSCONV_BLEND_FLOAT16, DSCONV_BLEND_BFLOAT16 };

// dsconv_blend sets the first elements of dst to dst * weight + other * other_weight, rounded to their
// type after each product and after the sum. It returns their number: all except up to 7, or 0 if the
// processor lacks AVX2 or F16C.
size_t dsconv_blend(int type, void *dst, const void *other, size_t n, float weight, float other_weight);

#endif
