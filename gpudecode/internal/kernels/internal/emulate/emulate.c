#include "emulate.h"

#include <stdlib.h>
#include <string.h>

#include "../../kernels.h"

// The addresses that are a kernel's first arguments.
static uint64_t argument(void **params, int i) { return *(uint64_t *)params[i]; }

// store runs the block: all threads do the first pass before one begins the second.
static int store(uint32_t block, uint32_t image, uint32_t shared, void **params) {
  const dsconv_store_job *j = DSCONV_POINTER(const dsconv_store_job, argument(params, 0)) + image;
  const int32_t *weights = DSCONV_POINTER(const int32_t, argument(params, 1));
  const uint32_t *table = DSCONV_POINTER(const uint32_t, argument(params, 2));
  dsconv_store_tile t;
  if (!dsconv_tile_of(&t, j, weights, block))
    return 0;
  uint8_t *between = malloc(shared ? shared : 1); // exactly, for AddressSanitizer
  if (!between)
    return 2;
  for (uint32_t thread = DSCONV_THREADS; thread-- > 0;)
    dsconv_store_first(j, weights, &t, thread, between);
  for (uint32_t thread = 0; thread < DSCONV_THREADS; thread++)
    dsconv_store_second(j, weights, table, &t, thread, between);
  free(between);
  return 0;
}

static void canary(uint32_t blocks, uint32_t block, uint32_t image, int fill, void **params) {
  const dsconv_canary *c = DSCONV_POINTER(const dsconv_canary, argument(params, 0)) + image;
  const uint64_t seed = argument(params, 1);
  for (uint32_t i = 0; i < DSCONV_THREADS; i++) {
    const uint32_t n =
        dsconv_canary_share(c, seed, block * DSCONV_THREADS + i, blocks * DSCONV_THREADS, fill);
    if (!fill)
      DSCONV_ADD(DSCONV_POINTER(uint32_t, argument(params, 2)) + image, n);
  }
}

int dsconv_emulate(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                   void **params) {
  const int is_store = strcmp(name, "dsconv_store") == 0, is_fill = strcmp(name, "dsconv_canary_fill") == 0;
  if (!is_store && !is_fill && strcmp(name, "dsconv_canary_check") != 0)
    return 500;
  if (!grid[0] || grid[1] != 1 || !grid[2] || grid[2] > 65535 || block[0] != DSCONV_THREADS ||
      block[1] != 1 || block[2] != 1 || shared > 48 << 10)
    return 1;
  for (uint32_t z = 0; z < grid[2]; z++)
    for (uint32_t x = 0; x < grid[0]; x++)
      if (!is_store)
        canary(grid[0], x, z, is_fill, params);
      else if (store(x, z, shared, params))
        return 2;
  return 0;
}
