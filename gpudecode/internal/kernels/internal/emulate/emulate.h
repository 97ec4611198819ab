// The kernels on the CPU, for tests and for the fake driver.
#ifndef DSCONV_EMULATE_H
#define DSCONV_EMULATE_H

#include <stdint.h>

// dsconv_emulate runs a kernel as cuLaunchKernel does: params are pointers to its arguments; addresses in the
// GPU's memory are pointers. It returns 0, 1 for a launch that the GPU would refuse, 2 for lack of memory and
// 500 (CUDA_ERROR_NOT_FOUND) for an unknown name.
int dsconv_emulate(const char *name, const uint32_t grid[3], const uint32_t block[3], uint32_t shared,
                   void **params);

#endif
