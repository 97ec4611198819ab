#include <stdint.h>
#include <string.h>

// A sum must not be fused with a product, or levels and Go would differ.
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define TARGET
#define INLINE static inline

typedef struct {
  double v[4];
} lanes;

#define EACH_LANE(expression)                                                                                \
  lanes r;                                                                                                   \
  for (int i = 0; i < 4; i++)                                                                                \
    r.v[i] = expression;                                                                                     \
  return r

INLINE lanes l_set(double x) { EACH_LANE(x); }
INLINE lanes l_add(lanes a, lanes b) { EACH_LANE(a.v[i] + b.v[i]); }
INLINE lanes l_sub(lanes a, lanes b) { EACH_LANE(a.v[i] - b.v[i]); }
INLINE lanes l_mul(lanes a, lanes b) { EACH_LANE(a.v[i] * b.v[i]); }

INLINE lanes l_load(const uint8_t *p, const int channels, const int deep) {
  EACH_LANE(i >= channels ? 0 : deep ? (double)(p[2 * i] | p[2 * i + 1] << 8) : (double)p[i]);
}

INLINE void l_store(uint8_t *p, lanes a, const int channels, const int deep) {
  const int32_t most = deep ? 65535 : 255;
  for (int i = 0; i < channels; i++) {
    const int32_t v = (int32_t)a.v[i], in = v < 0 ? 0 : v < most ? v : most;
    p[i << deep] = (uint8_t)in;
    if (deep)
      p[2 * i + 1] = (uint8_t)(in >> 8);
  }
}

#include "affine_smooth.h"

void dsconv_warp_smooth_portable(const dsconv_warping *q, uint8_t *dst, const uint8_t *src) {
  smooth(q, dst, src);
}
