// How each call enters the GPU's context.
#ifndef DSCONV_NVJPEG_WITHIN_H
#define DSCONV_NVJPEG_WITHIN_H

#include "calls.h"

// WITHIN evaluates expression, a status, in the GPU's context and returns it.
#define WITHIN(d, expression)                                                                                \
  do {                                                                                                       \
    CUresult entered = dsconv_cuda_enter(d);                                                                 \
    if (entered != 0)                                                                                        \
      return -(int)entered;                                                                                  \
    int status = (expression);                                                                               \
    CUresult left = dsconv_cuda_leave(d, 0);                                                                 \
    return status != 0 ? status : -(int)left;                                                                \
  } while (0)

#endif
