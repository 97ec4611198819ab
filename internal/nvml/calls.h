// The calls of this package's Go code.
#ifndef DSCONV_NVML_CALLS_H
#define DSCONV_NVML_CALLS_H

#include <stddef.h>

#include "functions.h"

typedef struct {
#define F(name, suffix, result, parameters) result(*name) parameters;
  DSCONV_NVML_FUNCTIONS(F)
#undef F
} dsconv_nvml;

// dsconv_nvml_open loads the library. *opened is NULL if it cannot, with the reason in why; missing is set if
// there is no such library. The caller frees *opened; the library stays loaded.
void dsconv_nvml_open(const char *file, dsconv_nvml **opened, int *missing, char *why, size_t size);

nvmlReturn_t dsconv_nvml_init(const dsconv_nvml *api, unsigned int *devices);
nvmlReturn_t dsconv_nvml_shutdown(const dsconv_nvml *api);
const char *dsconv_nvml_text(const dsconv_nvml *api, nvmlReturn_t code);
nvmlReturn_t dsconv_nvml_describe(const dsconv_nvml *api, unsigned int number, char *name, unsigned int size,
                                  unsigned long long *memory);
nvmlReturn_t dsconv_nvml_memory(const dsconv_nvml *api, unsigned int number, unsigned long long *used);
nvmlReturn_t dsconv_nvml_busy(const dsconv_nvml *api, unsigned int number, unsigned int *percent);

#endif
