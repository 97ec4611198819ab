// Modules and launches. A kernel is run by its emulation in C, which gpudecode/internal/kernels has.
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "enter.h"
#include "streams.h"

// The emulation reaches the GPU's memory by this.
void *fake_pointer(uint64_t at);
#define DSCONV_POINTER(type, address) ((type *)fake_pointer(address))
#include "../../../../gpudecode/internal/kernels/internal/emulate/emulate.c"

enum { CUDA_MACHINE = 190, ARGUMENTS = 8 };

struct module {
  size_t size;
  struct module *ended; // the one that was unloaded before this one
  char image[];
};

struct function {
  struct module *module;
  const struct kernel {
    const char *name;
    int arguments; // all of 8 bytes
  } *kernel;
};

static const struct kernel kernels[] = {
    {"dsconv_store", 3}, {"dsconv_canary_fill", 2}, {"dsconv_canary_check", 3}};

// The last ranges that a kernel used: emulations ask for the same ones again and again.
static _Thread_local struct {
  uint64_t from, to;
  char *host;
} seen[4];
static _Thread_local int seen_next;

void *fake_pointer(uint64_t at) {
  for (int i = 0; i < 4; i++)
    if (at >= seen[i].from && at < seen[i].to)
      return seen[i].host + (at - seen[i].from);
  uint64_t from;
  size_t size;
  char *host = fake_range(at, &from, &size);
  if (!host) {
    fprintf(stderr, "fakegpu: a kernel reached %#llx, which is no allocated memory of the GPU\n",
            (unsigned long long)at);
    abort();
  }
  int i = seen_next++ % 4;
  seen[i].from = from;
  seen[i].to = from + size;
  seen[i].host = host;
  return host + (at - from);
}

static size_t elf_size(const Elf64_Ehdr *h) {
  const char *image = (const char *)h;
  size_t end = h->e_shoff + (size_t)h->e_shnum * h->e_shentsize;
  const Elf64_Shdr *sections = (const void *)(image + h->e_shoff);
  for (int i = 0; i < h->e_shnum; i++)
    if (sections[i].sh_type != SHT_NOBITS && sections[i].sh_offset + sections[i].sh_size > end)
      end = sections[i].sh_offset + sections[i].sh_size;
  return end;
}

// Modules that were unloaded.
static struct module *ended;

// Whether the GPU runs a cubin: it must be for the same major number, and no later minor one. Its number
// moved up by a byte in the flags with version 8 of the ABI.
static bool runs_cubin(const Elf64_Ehdr *h) {
  int has = (int)fake_setting("sm", 90);
  int needs = (int)(h->e_ident[EI_ABIVERSION] < 8 ? h->e_flags : h->e_flags >> 8) & 0xFF;
  return needs / 10 == has / 10 && needs <= has;
}

// Whether the GPU is what PTX was made for, or a later one.
static bool runs_ptx(const char *text) {
  const char *target = strstr(text, ".target sm_");
  return target && atoi(target + strlen(".target sm_")) <= fake_setting("sm", 90);
}

// The image is a cubin or the text of PTX.
CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  ENTER(true);
  const Elf64_Ehdr *h = image;
  size_t size;
  bool elf = !memcmp(image, ELFMAG, SELFMAG);
  if (elf && h->e_machine == CUDA_MACHINE && h->e_shentsize == sizeof(Elf64_Shdr))
    size = elf_size(h);
  else if (!elf && memchr("./ \n", *(const char *)image, 4) && strstr(image, ".version"))
    size = strlen(image);
  else
    return CU_INVALID_IMAGE;
  if (!(elf ? runs_cubin(h) : runs_ptx(image)))
    return CU_NO_BINARY_FOR_GPU;
  struct module *m = malloc(sizeof *m + size);
  m->size = size;
  memcpy(m->image, image, size);
  *module = fake_handle(FAKE_MODULE, m);
  return CU_OK;
}

CUresult cuModuleUnload(CUmodule module) {
  int status = fake_enter(__func__, true);
  struct module *m = fake_drop(FAKE_MODULE, module);
  if (m) { // its functions remember it
    m->size = 0;
    m->ended = __atomic_exchange_n(&ended, m, __ATOMIC_RELAXED);
  }
  return status ? status : m ? CU_OK : CU_INVALID_HANDLE;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  ENTER(true);
  struct module *m = fake_body(FAKE_MODULE, module);
  if (!m)
    return CU_INVALID_HANDLE;
  for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
    if (!strcmp(kernels[i].name, name) && memmem(m->image, m->size, name, strlen(name))) {
      struct function *f = malloc(sizeof *f);
      *f = (struct function){m, &kernels[i]};
      *function = fake_handle(FAKE_FUNCTION, f);
      return CU_OK;
    }
  return CU_NOT_FOUND;
}

struct launch {
  const char *name;
  uint32_t grid[3], block[3], shared;
  uint64_t values[ARGUMENTS];
  void *arguments[ARGUMENTS];
};

static void run_launch(void *argument, bool alive) {
  struct launch *l = argument;
  int status = alive ? (int)fake_strike("kernel") : 0;
  memset(seen, 0, sizeof seen);
  if (status)
    fake_lose(status);
  else if (alive && dsconv_emulate(l->name, l->grid, l->block, l->shared, l->arguments))
    fake_lose(CU_LAUNCH_FAILED);
  free(l);
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **arguments, void **extra) {
  ENTER(true);
  struct function *f = fake_body(FAKE_FUNCTION, function);
  struct fake_stream *s = fake_stream_of(stream);
  if (!f || !f->module->size || !s)
    return CU_INVALID_HANDLE;
  if (extra || !grid_x || !grid_y || !grid_z || grid_y > 65535 || grid_z > 65535 || !block_x || !block_y ||
      !block_z || block_x * block_y * block_z > 1024 || shared > 48 << 10)
    return CU_INVALID_VALUE;
  struct launch *l = calloc(1, sizeof *l);
  *l = (struct launch){
      f->kernel->name, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared, {0}, {0}};
  for (int i = 0; i < f->kernel->arguments; i++) {
    memcpy(&l->values[i], arguments[i], sizeof l->values[i]);
    l->arguments[i] = &l->values[i];
  }
  fake_enqueue(s, run_launch, l);
  return CU_OK;
}
