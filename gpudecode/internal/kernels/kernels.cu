// The kernels: blockIdx.z is the image, the functions of kernels.h are the work of a thread.
#include "kernels.h"

// dsconv_store makes entries of a batch from decoded images: crop, resize, mirror, convert, lay out.
extern "C" __global__ void __launch_bounds__(DSCONV_THREADS)
    dsconv_store(const dsconv_store_job *jobs, const int32_t *__restrict__ weights,
                 const uint32_t *__restrict__ table) {
  extern __shared__ uint8_t between[];
  const dsconv_store_job j = jobs[blockIdx.z]; // a copy, which no store can change: it stays in registers
  dsconv_store_tile t;
  if (!dsconv_tile_of(&t, &j, weights, blockIdx.x))
    return; // the whole block does
  dsconv_store_first(&j, weights, &t, threadIdx.x, between);
  __syncthreads();
  dsconv_store_second(&j, weights, table, &t, threadIdx.x, between);
}

extern "C" __global__ void __launch_bounds__(DSCONV_THREADS)
    dsconv_canary_fill(const dsconv_canary *images, uint64_t seed) {
  const uint32_t thread = blockIdx.x * DSCONV_THREADS + threadIdx.x;
  const dsconv_canary image = images[blockIdx.z];
  dsconv_canary_share(&image, seed, thread, gridDim.x * DSCONV_THREADS, 1);
}

// dsconv_canary_check adds to each image's number how many of its runs still have the pattern.
extern "C" __global__ void __launch_bounds__(DSCONV_THREADS)
    dsconv_canary_check(const dsconv_canary *images, uint64_t seed, uint32_t *untouched) {
  const uint32_t thread = blockIdx.x * DSCONV_THREADS + threadIdx.x;
  const dsconv_canary image = images[blockIdx.z];
  const uint32_t n = dsconv_canary_share(&image, seed, thread, gridDim.x * DSCONV_THREADS, 0);
  if (n)
    DSCONV_ADD(untouched + blockIdx.z, n);
}
