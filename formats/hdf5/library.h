// What dsconv needs of the HDF5 library. All functions return a negative number for an error, which the
// library's error stack describes. A failure leaves a few ids open: closing them would clear the error stack,
// and the caller stops anyway. Types are the codes of typeCodes.
#include <hdf5.h>
#include <stdlib.h>

void dsconv_quiet(void);
void dsconv_errors(char *text, size_t size);
hid_t dsconv_create_file(const char *path, hsize_t align);
hid_t dsconv_open_file(const char *path, int write, hsize_t align);
int dsconv_close_file(hid_t file);
int dsconv_create_group(hid_t file, const char *name);
int dsconv_create_dataset(hid_t file, const char *name, int type, int rank, const hsize_t *dims);
int dsconv_write_attribute(hid_t file, const char *dataset, const char *name, const char *value);
hid_t dsconv_create_strings(hid_t file, const char *name, size_t n);
int dsconv_write_strings(hid_t dataset, size_t from, size_t count, const char *text, const size_t *starts);
int dsconv_close_dataset(hid_t dataset);

struct dsconv_extent {
  int contiguous, type, rank; // type is 0 if it is none of ours
  unsigned long long offset, length;
  hsize_t dims[H5S_MAX_RANK];
};
int dsconv_locate(hid_t file, const char *name, struct dsconv_extent *e);
