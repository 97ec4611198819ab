// nvjpeg.h includes cuda_runtime_api.h, which needs headers of another package, for this type alone.
#define __CUDA_RUNTIME_API_H__
typedef struct CUstream_st *cudaStream_t;
