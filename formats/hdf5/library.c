//go:build cgo

#include "library.h"

#include <stdio.h>
#include <string.h>

void dsconv_quiet(void) { H5Eset_auto2(H5E_DEFAULT, NULL, NULL); }

struct text {
  char *at;
  size_t left;
};

static herr_t append(unsigned n, const H5E_error2_t *e, void *data) {
  struct text *t = data;
  int k = snprintf(t->at, t->left, "%s%s: %s", n ? "; " : "", e->func_name, e->desc ? e->desc : "");

  if (k > 0) {
    size_t took = (size_t)k < t->left ? (size_t)k : t->left - 1;
    t->at += took;
    t->left -= took;
  }
  return 0;
}

void dsconv_errors(char *text, size_t size) {
  struct text t = {text, size};

  text[0] = 0;
  // Upward: the innermost error, the cause, comes first.
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append, &t);
}

int dsconv_contiguous(hid_t dcpl) {
  if (H5Pset_layout(dcpl, H5D_CONTIGUOUS) < 0 || H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) < 0 ||
      H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) < 0)
    return -1;
  return H5Pset_obj_track_times(dcpl, 0);
}

// Here and below a failure returns at once and leaves a few ids open: closing them would
// clear the error stack, and the caller stops anyway.
int dsconv_create(const char *path, int exists, hsize_t align, const char *name, hid_t type, int rank,
                  const hsize_t *dims) {
  hid_t fapl, dcpl, file, space, set;

  if ((fapl = H5Pcreate(H5P_FILE_ACCESS)) < 0 || H5Pset_alignment(fapl, align, align) < 0)
    return -1;
  if ((dcpl = H5Pcreate(H5P_DATASET_CREATE)) < 0 || dsconv_contiguous(dcpl) < 0)
    return -1;
  file = exists ? H5Fopen(path, H5F_ACC_RDWR, fapl) : H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl);
  if (file < 0)
    return -1;
  if ((space = H5Screate_simple(rank, dims, NULL)) < 0)
    return -1;
  if ((set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT)) < 0)
    return -1;
  if (H5Dclose(set) < 0 || H5Sclose(space) < 0 || H5Pclose(dcpl) < 0 || H5Pclose(fapl) < 0)
    return -1;
  return H5Fclose(file);
}

static hid_t string_type(void) {
  hid_t type = H5Tcopy(H5T_C_S1);

  if (type < 0 || H5Tset_size(type, H5T_VARIABLE) < 0 || H5Tset_cset(type, H5T_CSET_UTF8) < 0)
    return -1;
  return type;
}

hid_t dsconv_create_strings(hid_t file, const char *name, size_t n) {
  hsize_t dims = n;
  hid_t type, space, dcpl, set;

  if ((type = string_type()) < 0 || (space = H5Screate_simple(1, &dims, NULL)) < 0)
    return -1;
  if ((dcpl = H5Pcreate(H5P_DATASET_CREATE)) < 0 || H5Pset_obj_track_times(dcpl, 0) < 0)
    return -1;
  if ((set = H5Dcreate2(file, name, type, space, H5P_DEFAULT, dcpl, H5P_DEFAULT)) < 0)
    return -1;
  H5Pclose(dcpl);
  H5Sclose(space);
  H5Tclose(type);
  return set;
}

static int write_rows(hid_t set, size_t from, size_t n, const char **rows) {
  hsize_t start = from, count = n;
  hid_t type, space, memory;

  if ((type = string_type()) < 0 || (space = H5Dget_space(set)) < 0 ||
      (memory = H5Screate_simple(1, &count, NULL)) < 0)
    return -1;
  if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &count, NULL) < 0 ||
      H5Dwrite(set, type, memory, space, H5P_DEFAULT, rows) < 0)
    return -1;
  H5Sclose(memory);
  H5Sclose(space);
  return H5Tclose(type);
}

int dsconv_write_strings(hid_t set, size_t from, size_t count, const char *text, const size_t *starts) {
  const char **rows = malloc(count * sizeof *rows);
  int rc;

  if (!rows)
    return -1;
  for (size_t i = 0; i < count; i++)
    rows[i] = text + starts[i];
  rc = write_rows(set, from, count, rows);
  free(rows);
  return rc;
}

int dsconv_close(hid_t dataset) { return H5Dclose(dataset); }

int dsconv_write_attribute(hid_t object, const char *name, const char *value) {
  hid_t type, space, attribute;

  if ((type = string_type()) < 0 || (space = H5Screate(H5S_SCALAR)) < 0)
    return -1;
  if ((attribute = H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT)) < 0)
    return -1;
  if (H5Awrite(attribute, type, &value) < 0)
    return -1;
  H5Sclose(space);
  H5Tclose(type);
  return H5Aclose(attribute);
}

int dsconv_extent(hid_t dataset, unsigned long long *offset, unsigned long long *length) {
  hid_t dcpl = H5Dget_create_plist(dataset);
  H5D_layout_t layout;
  int external;
  haddr_t at;

  if (dcpl < 0)
    return -1;
  layout = H5Pget_layout(dcpl);
  external = H5Pget_external_count(dcpl);
  H5Pclose(dcpl);
  if (layout != H5D_CONTIGUOUS || external != 0)
    return 1;
  *length = H5Dget_storage_size(dataset);
  at = H5Dget_offset(dataset);
  *offset = at == HADDR_UNDEF ? 0 : at;
  if (at == HADDR_UNDEF)
    *length = 0;
  return 0;
}
