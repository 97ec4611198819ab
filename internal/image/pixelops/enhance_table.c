#include <string.h>

#include "enhance_kernel.h"

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
