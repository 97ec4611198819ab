#include "kernels.h"

#include <string.h>

#include "../resample/level.h"

static dsconv_enhancer *enhancer(int level) {
#if defined(__x86_64__) && defined(__GNUC__)
  if (level >= DSCONV_AVX2 && dsconv_level() >= DSCONV_AVX2)
    return dsconv_enhance_avx2;
#endif
  (void)level;
  return dsconv_enhance_portable;
}

// mean is rounded as ImageEnhance.Contrast does.
static int32_t mean(uint64_t sum, size_t count) { return (int32_t)((double)sum / (double)count + 0.5); }

void dsconv_enhance(uint8_t *pixels, size_t count, dsconv_change *changes, int n, int level) {
  dsconv_enhancer *run = enhancer(level);
  int from = 0;
  for (int i = 0; i < n && count > 0; i++) {
    if (changes[i].kind != DSCONV_CONTRAST)
      continue;
    changes[i].grey = mean(run(pixels, count, changes + from, i - from, 1), count);
    from = i;
  }
  run(pixels, count, changes + from, n - from, 0);
}

void dsconv_count(const uint8_t *pixels, size_t count, int channels, uint32_t (*counts)[256]) {
  memset(counts, 0, (size_t)channels * sizeof *counts);
  if (channels == 1) {
    for (size_t i = 0; i < count; i++)
      counts[0][pixels[i]]++;
    return;
  }
  for (; count > 0; count--, pixels += 3) {
    counts[0][pixels[0]]++;
    counts[1][pixels[1]]++;
    counts[2][pixels[2]]++;
  }
}

void dsconv_look_up(uint8_t *pixels, size_t count, int channels, const uint8_t (*tables)[256]) {
  if (channels == 1) {
    for (size_t i = 0; i < count; i++)
      pixels[i] = tables[0][pixels[i]];
    return;
  }
  for (; count > 0; count--, pixels += 3) {
    pixels[0] = tables[0][pixels[0]];
    pixels[1] = tables[1][pixels[1]];
    pixels[2] = tables[2][pixels[2]];
  }
}
