// How each call enters the GPU's context.
#ifndef DSCONV_NVJPEG_WITHIN_H
#define DSCONV_NVJPEG_WITHIN_H

#include "calls.h"

// WITHIN evaluates expression, a status, in the GPU's context and returns it.
#define WITHIN(d, expression)                                                                                \
  do {                                                                                                       \
    const dsconv_cuda_device *within = (d); /* expression may free what d is a part of */                    \
    CUresult entered = dsconv_cuda_enter(within);                                                            \
    if (entered != 0)                                                                                        \
      return -(int)entered;                                                                                  \
    int status = (expression);                                                                               \
    CUresult left = dsconv_cuda_leave(within, 0);                                                            \
    return status != 0 ? status : -(int)left;                                                                \
  } while (0)

#endif
