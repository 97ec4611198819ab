// Functions that gonum.org/v1/hdf5 lacks. All return a negative number for an error, which the
// library's error stack describes.
#include <hdf5.h>
#include <stdlib.h>

void dsconv_quiet(void);
void dsconv_errors(char *text, size_t size);
int dsconv_contiguous(hid_t dcpl);
int dsconv_create(const char *path, int exists, hsize_t align, const char *name, hid_t type, int rank,
                  const hsize_t *dims);
hid_t dsconv_create_strings(hid_t file, const char *name, size_t n);
int dsconv_write_strings(hid_t dataset, size_t from, size_t count, const char *text, const size_t *starts);
int dsconv_close(hid_t dataset);
int dsconv_write_attribute(hid_t object, const char *name, const char *value);
int dsconv_extent(hid_t dataset, unsigned long long *offset, unsigned long long *length);
