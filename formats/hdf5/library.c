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

static hid_t aligned(hsize_t align) {
  hid_t fapl = H5Pcreate(H5P_FILE_ACCESS);

  return fapl < 0 || H5Pset_alignment(fapl, align, align) < 0 ? -1 : fapl;
}

hid_t dsconv_create_file(const char *path, hsize_t align) {
  hid_t fapl = aligned(align), file;

  if (fapl < 0 || (file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, fapl)) < 0 || H5Pclose(fapl) < 0)
    return -1;
  return file;
}

hid_t dsconv_open_file(const char *path, int write, hsize_t align) {
  hid_t fapl = aligned(align), file;

  if (fapl < 0 || (file = H5Fopen(path, write ? H5F_ACC_RDWR : H5F_ACC_RDONLY, fapl)) < 0 || H5Pclose(fapl) < 0)
    return -1;
  return file;
}

int dsconv_close_file(hid_t file) { return H5Fclose(file); }

int dsconv_create_group(hid_t file, const char *name) {
  hid_t group = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);

  return group < 0 ? -1 : H5Gclose(group);
}

static hid_t native(int type) {
  switch (type) {
  case 1:
    return H5T_NATIVE_UINT8;
  case 2:
    return H5T_NATIVE_UINT16;
  case 3:
    return H5T_NATIVE_INT64;
  case 4:
    return H5T_NATIVE_FLOAT;
  }
  return -1;
}

// The dataset is contiguous, without time stamps and fill values.
int dsconv_create_dataset(hid_t file, const char *name, int type, int rank, const hsize_t *dims) {
  hid_t dcpl, space, set;

  if ((dcpl = H5Pcreate(H5P_DATASET_CREATE)) < 0 || H5Pset_layout(dcpl, H5D_CONTIGUOUS) < 0 ||
      H5Pset_alloc_time(dcpl, H5D_ALLOC_TIME_EARLY) < 0 || H5Pset_fill_time(dcpl, H5D_FILL_TIME_NEVER) < 0 ||
      H5Pset_obj_track_times(dcpl, 0) < 0)
    return -1;
  if ((space = H5Screate_simple(rank, dims, NULL)) < 0)
    return -1;
  if ((set = H5Dcreate2(file, name, native(type), space, H5P_DEFAULT, dcpl, H5P_DEFAULT)) < 0)
    return -1;
  if (H5Sclose(space) < 0 || H5Pclose(dcpl) < 0)
    return -1;
  return H5Dclose(set);
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

  if ((type = string_type()) < 0 || (space = H5Dget_space(set)) < 0 || (memory = H5Screate_simple(1, &count, NULL)) < 0)
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

int dsconv_close_dataset(hid_t dataset) { return H5Dclose(dataset); }

int dsconv_write_attribute(hid_t file, const char *dataset, const char *name, const char *value) {
  hid_t set, type, space, attribute;

  if ((set = H5Dopen2(file, dataset, H5P_DEFAULT)) < 0 || (type = string_type()) < 0 || (space = H5Screate(H5S_SCALAR)) < 0)
    return -1;
  if ((attribute = H5Acreate2(set, name, type, space, H5P_DEFAULT, H5P_DEFAULT)) < 0)
    return -1;
  if (H5Awrite(attribute, type, &value) < 0 || H5Aclose(attribute) < 0 || H5Sclose(space) < 0 || H5Tclose(type) < 0)
    return -1;
  return H5Dclose(set);
}

static int describe(hid_t set, hid_t type, hid_t space, hid_t dcpl, struct dsconv_extent *e) {
  haddr_t at = H5Dget_offset(set);

  e->contiguous = H5Pget_layout(dcpl) == H5D_CONTIGUOUS && H5Pget_external_count(dcpl) == 0;
  for (e->type = 4; e->type > 0 && H5Tequal(type, native(e->type)) <= 0; e->type--)
    ;
  e->offset = at == HADDR_UNDEF ? 0 : at;
  e->length = at == HADDR_UNDEF ? 0 : H5Dget_storage_size(set);
  return e->rank = H5Sget_simple_extent_dims(space, e->dims, NULL);
}

int dsconv_locate(hid_t file, const char *name, struct dsconv_extent *e) {
  hid_t set, type, space, dcpl;

  if ((set = H5Dopen2(file, name, H5P_DEFAULT)) < 0 || (type = H5Dget_type(set)) < 0 || (space = H5Dget_space(set)) < 0 ||
      (dcpl = H5Dget_create_plist(set)) < 0 || describe(set, type, space, dcpl, e) < 0)
    return -1;
  if (H5Pclose(dcpl) < 0 || H5Sclose(space) < 0 || H5Tclose(type) < 0)
    return -1;
  return H5Dclose(set);
}
