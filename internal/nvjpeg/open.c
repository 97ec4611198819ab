//go:build linux

#define _GNU_SOURCE // dladdr

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "calls.h"

// The libraries that were opened. They stay so: what they started may outlive every handle.
static struct opened {
  dsconv_nvjpeg api;
  void *library;
  struct opened *next;
} *libraries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// ask stores the library's version.
static void ask(const dsconv_nvjpeg *api, int *version) {
  for (int i = 0; i < 3; i++)
    if (api->nvjpegGetProperty(i, &version[i]) != 0)
      version[i] = 0;
}

// find fills in o and returns 0, or writes to why what is missing.
static int find(struct opened *o, char *why, size_t size) {
  int version[3];
  if ((*(void **)&o->api.nvjpegGetProperty = dlsym(o->library, "nvjpegGetProperty")) == NULL) {
    snprintf(why, size, "it is not nvJPEG");
    return -1;
  }
  ask(&o->api, version);
#define F(name, parameters)                                                                                  \
  if ((*(void **)&o->api.name = dlsym(o->library, #name)) == NULL) {                                         \
    snprintf(why, size, "version %d.%d.%d is too old: it has no function " #name, version[0], version[1],    \
             version[2]);                                                                                    \
    return -1;                                                                                               \
  }
  DSCONV_NVJPEG_FUNCTIONS(F)
#undef F
  return 0;
}

// opened returns the library of dlopen's handle, which is found once.
static struct opened *opened(void *library, char *why, size_t size) {
  for (struct opened *o = libraries; o != NULL; o = o->next)
    if (o->library == library)
      return o;
  struct opened *o = calloc(1, sizeof *o);
  if (o == NULL) {
    snprintf(why, size, "out of memory");
    return NULL;
  }
  o->library = library;
  if (find(o, why, size) != 0) {
    free(o);
    return NULL;
  }
  o->next = libraries;
  return libraries = o;
}

dsconv_nvjpeg *dsconv_nvjpeg_open(const char *path, int *version, char *why, size_t size) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    const char *text = dlerror();
    snprintf(why, size, "%s", text != NULL ? text : "unknown error");
    return NULL;
  }
  pthread_mutex_lock(&lock);
  struct opened *o = opened(library, why, size);
  pthread_mutex_unlock(&lock);
  if (o == NULL)
    return NULL;
  ask(&o->api, version);
  return &o->api;
}

int dsconv_nvjpeg_has(const char *library) { return dlopen(library, RTLD_NOW | RTLD_LOCAL) != NULL; }

void dsconv_nvjpeg_path(const dsconv_nvjpeg *api, char *path, size_t size) {
  Dl_info info;
  int found = dladdr(*(void *const *)&api->nvjpegGetProperty, &info);
  snprintf(path, size, "%s", found && info.dli_fname != NULL ? info.dli_fname : "");
}
