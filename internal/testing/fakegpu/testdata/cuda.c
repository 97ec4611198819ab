// Checks of the fake driver. The argument names one.
#include <elf.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { SIZE = 1000, ROUNDS = 200 };

// Bytes that a copy brings to pinned memory are there after a wait, and mostly not before.
static void late(void) {
  begin("");
  CUstream s;
  CUdeviceptr at;
  unsigned char *to, got;
  int early = 0, seen = 0;
  SAME(cuStreamCreate(&s, 1), 0);
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuMemHostAlloc((void **)&to, SIZE, 0), 0);
  for (int i = 0; i < ROUNDS; i++) {
    memset(to, 0, SIZE);
    SAME(cuMemsetD8Async(at, (unsigned char)(i % 250 + 1), SIZE, s), 0);
    SAME(cuMemcpyDtoHAsync_v2(to, at, SIZE, s), 0);
    early += to[SIZE - 1] != 0;
    CHECK(fake_read(&got, at + SIZE - 1, 1) && !fake_read(&got, at + SIZE, 1));
    seen += got == i % 250 + 1;
    SAME(cuStreamSynchronize(s), 0);
    for (int k = 0; k < SIZE; k++)
      SAME(to[k], i % 250 + 1);
  }
  CHECK(early < ROUNDS / 2 && seen < ROUNDS / 2);
  SAME(cuMemFreeHost(to), 0);
  SAME(cuMemFree_v2(at), 0);
  SAME(cuStreamDestroy_v2(s), 0);
  end(0);
}

// Memory that was never written has the fill pattern; a copy from memory of the host that is not pinned reads
// it before it returns, one from pinned memory reads it late.
static void staging(void) {
  begin("");
  CUstream s;
  CUdeviceptr at;
  unsigned char *pinned, got[SIZE], pageable[SIZE];
  SAME(cuStreamCreate(&s, 1), 0);
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuMemHostAlloc((void **)&pinned, SIZE, 0), 0);
  SAME(pinned[SIZE - 1], 0xA5);
  SAME(cuMemcpyDtoH_v2(got, at, SIZE), 0);
  SAME(got[0], 0xA5);
  SAME(got[SIZE - 1], 0xA5);
  int changed = 0;
  for (int i = 0; i < ROUNDS; i++) {
    memset(pageable, 1, SIZE);
    SAME(cuMemcpyHtoDAsync_v2(at, pageable, SIZE, s), 0);
    memset(pageable, 2, SIZE);
    SAME(cuMemcpyDtoHAsync_v2(got, at, SIZE, s), 0); // waits: got is not pinned
    SAME(got[0], 1);
    memset(pinned, 1, SIZE);
    SAME(cuMemcpyHtoDAsync_v2(at, pinned, SIZE, s), 0);
    memset(pinned, 2, SIZE);
    SAME(cuMemcpyDtoHAsync_v2(got, at, SIZE, s), 0);
    changed += got[0] == 2;
  }
  CHECK(changed > ROUNDS / 2);
  SAME(cuMemFreeHost(pinned), 0);
  SAME(cuMemFree_v2(at), 0);
  SAME(cuStreamDestroy_v2(s), 0);
  end(0);
}

// One stream waits for another by an event; a later record does not matter. Without the wait the order is
// mostly wrong. The order within a stream holds always.
static void events(void) {
  begin("");
  CUstream a, b;
  CUevent e;
  CUdeviceptr at, out;
  unsigned char got[SIZE];
  int wrong = 0;
  SAME(cuStreamCreate(&a, 1), 0);
  SAME(cuStreamCreate(&b, 1), 0);
  SAME(cuEventCreate(&e, 2), 0);
  SAME(cuEventQuery(e), 0); // not recorded: done
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuMemAlloc_v2(&out, SIZE), 0);
  for (int i = 0; i < ROUNDS; i++) {
    int waits = i % 2;
    SAME(cuMemsetD8Async(at, 1, SIZE, a), 0);
    SAME(cuMemsetD8Async(at, 2, SIZE, a), 0);
    SAME(cuEventRecord(e, a), 0);
    if (waits)
      SAME(cuStreamWaitEvent(b, e, 0), 0);
    SAME(cuMemcpyDtoDAsync_v2(out, at, SIZE, b), 0);
    SAME(cuStreamSynchronize(b), 0);
    SAME(cuMemcpyDtoH_v2(got, out, SIZE), 0);
    if (waits)
      SAME(got[SIZE - 1], 2);
    else
      wrong += got[SIZE - 1] != 2;
    SAME(cuMemsetD8Async(at, 3, SIZE, a), 0);
    int status;
    while ((status = cuStreamQuery(a)) == CU_NOT_READY) // who asks again and again comes to an end
      ;
    SAME(status, 0);
    SAME(cuEventSynchronize(e), 0);
  }
  CHECK(wrong > ROUNDS / 8);
  SAME(cuEventDestroy_v2(e), 0);
  SAME(cuEventDestroy_v2(e), CU_INVALID_HANDLE);
  SAME(cuStreamDestroy_v2(a), 0);
  SAME(cuStreamDestroy_v2(b), 0);
  SAME(cuStreamSynchronize(b), CU_INVALID_HANDLE);
  SAME(cuMemFree_v2(at), 0);
  SAME(cuMemFree_v2(out), 0);
  end(0);
}

// The default stream waits for blocking streams and they for it, and not for others.
static void default_stream(void) {
  begin("");
  CUstream blocking;
  CUdeviceptr at;
  unsigned char got;
  SAME(cuStreamCreate(&blocking, 0), 0);
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  for (int i = 0; i < ROUNDS; i++) {
    SAME(cuMemsetD8Async(at, (unsigned char)i, SIZE, blocking), 0);
    SAME(cuMemcpyDtoH_v2(&got, at, 1), 0);
    SAME(got, (unsigned char)i);
    SAME(cuMemsetD8Async(at, (unsigned char)(i + 1), SIZE, NULL), 0);
    SAME(cuMemcpyDtoHAsync_v2(&got, at, 1, blocking), 0);
    SAME(got, (unsigned char)(i + 1));
  }
  SAME(cuCtxSynchronize(), 0);
  SAME(cuStreamDestroy_v2(blocking), 0);
  SAME(cuMemFree_v2(at), 0);
  end(0);
}

// Wrong calls fail, and say how.
static void misuse(void) {
  begin("");
  CUstream s;
  CUdeviceptr at;
  CUcontext context;
  CUevent e;
  char host[8];
  SAME(cuStreamCreate(&s, 1), 0);
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuMemAlloc_v2(&at, 0), CU_INVALID_VALUE);
  SAME(cuMemcpyHtoDAsync_v2(at, host, SIZE + 1, s), CU_INVALID_VALUE);
  SAME(cuMemcpyHtoDAsync_v2((CUdeviceptr)host, host, 1, s), CU_INVALID_VALUE);
  SAME(cuMemcpyDtoHAsync_v2(host, at + SIZE, 1, s), CU_INVALID_VALUE);
  SAME(cuMemsetD8Async(at, 0, SIZE, (CUstream)&host), CU_INVALID_HANDLE);
  SAME(cuMemsetD32Async(at + 2, 0, 1, s), CU_INVALID_VALUE);
  SAME(cuEventRecord((CUevent)s, s), CU_INVALID_HANDLE);
  SAME(cuMemFree_v2(at + 1), CU_INVALID_VALUE);
  SAME(cuMemFreeHost(host), CU_INVALID_VALUE);
  SAME(cuCtxPopCurrent_v2(&context), 0);
  SAME(cuStreamSynchronize(s), CU_INVALID_CONTEXT);
  SAME(cuEventCreate(&e, 0), CU_INVALID_CONTEXT);
  SAME(cuMemAlloc_v2(&at, SIZE), CU_INVALID_CONTEXT);
  SAME(cuCtxPopCurrent_v2(&context), CU_INVALID_CONTEXT);
  CHECK(cuCtxPushCurrent_v2(context) != 0 || context != NULL);
  SAME(cuMemFree_v2(at), 0);
  SAME(cuMemFree_v2(at), CU_INVALID_VALUE);
  SAME(cuStreamDestroy_v2(s), 0);
  end(0);
}

// What is freed while a stream is to use it is noticed.
static void freed(bool pinned) {
  begin("");
  CUstream s;
  CUdeviceptr at;
  void *host;
  SAME(cuStreamCreate(&s, 1), 0);
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuMemHostAlloc(&host, SIZE, 0), 0);
  for (int i = 0; i < ROUNDS && !fake_lost(); i++) {
    SAME(cuMemcpyDtoHAsync_v2(host, at, SIZE, s), 0);
    SAME(pinned ? cuMemFreeHost(host) : cuMemFree_v2(at), 0);
    int status = cuStreamSynchronize(s);
    CHECK(status == 0 || status == CU_ILLEGAL_ADDRESS);
    if (status)
      break;
    SAME(pinned ? cuMemHostAlloc(&host, SIZE, 0) : cuMemAlloc_v2(&at, SIZE), 0);
  }
  SAME(fake_lost(), CU_ILLEGAL_ADDRESS);
  SAME(cuMemGetInfo_v2(&(size_t){0}, &(size_t){0}), CU_ILLEGAL_ADDRESS);
  fake_lose(0);
  if (pinned)
    SAME(cuMemFree_v2(at), 0);
  else
    SAME(cuMemFreeHost(host), 0);
  SAME(cuStreamDestroy_v2(s), 0);
  end(1);
}

static void freed_device(void) { freed(false); }
static void freed_pinned(void) { freed(true); }

// Code of the host that reads the GPU's memory, or a handle, crashes.
static void guards(void) {
  begin("");
  CUdeviceptr at;
  CUstream s;
  SAME(cuMemAlloc_v2(&at, SIZE), 0);
  SAME(cuStreamCreate(&s, 1), 0);
  const char *addresses[] = {(const char *)at, (const char *)s};
  for (int i = 0; i < 2; i++) {
    pid_t child = fork();
    if (child == 0) {
      signal(SIGSEGV, SIG_DFL);
      signal(SIGBUS, SIG_DFL);
      alarm(60);
      _exit(*(volatile const char *)addresses[i] & 1);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status) && (WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS));
  }
  // and what is written behind an allocation, and behind pinned memory, is noticed when that is freed
  char *pinned, *end_of = fake_device(at + SIZE - 1, 1);
  SAME(cuMemHostAlloc((void **)&pinned, SIZE, 0), 0);
  end_of[1] = 1;
  pinned[SIZE] = 1;
  CHECK(fake_device(at, SIZE) && !fake_device(at, SIZE + 1) && !fake_device(at - 1, 1));
  SAME(cuMemFree_v2(at), 0);
  SAME(cuMemFreeHost(pinned), 0);
  CHECK(!fake_device(at, 1));
  SAME(cuStreamDestroy_v2(s), 0);
  end(2);
}

// A forked child gets errors.
static void forked(void) {
  begin("");
  pid_t child = fork();
  if (child == 0) {
    int count;
    alarm(60);
    _exit(cuInit(0) == CU_NOT_INITIALIZED && cuDeviceGetCount(&count) == CU_NOT_INITIALIZED ? 0 : 1);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child);
  SAME(status, 0);
  end(0);
}

// The modes of the driver.
static void modes(void) {
  int n;
  fake_set("cuInit:100,driver:11000");
  SAME(cuInit(0), CU_NO_DEVICE);
  SAME(cuDriverGetVersion(&n), 0);
  SAME(n, 11000);
  SAME(cuDeviceGetCount(&n), CU_NOT_INITIALIZED);
  begin("cuMemAlloc_v2:2@2,memory:100000,devices:2,cuMemHostAlloc:2/2");
  CUdeviceptr at, more;
  void *host;
  SAME(cuDeviceGetCount(&n), 0);
  SAME(n, 2);
  SAME(cuMemAlloc_v2(&at, 60000), 0);
  SAME(cuMemAlloc_v2(&more, 1), CU_OUT_OF_MEMORY); // by the mode
  SAME(cuMemAlloc_v2(&more, 60000), CU_OUT_OF_MEMORY);
  SAME(cuMemHostAlloc(&host, 1, 0), 0);
  SAME(cuMemFreeHost(host), 0);
  SAME(cuMemHostAlloc(&host, 1, 0), CU_OUT_OF_MEMORY);
  SAME(cuMemFree_v2(at), 0);
  SAME(fake_count("cuMemAlloc_v2"), 3);
  end(0);
  // a lost GPU stays lost, and what is freed then is freed
  begin("");
  SAME(cuMemAlloc_v2(&at, 1), 0);
  CUstream s;
  SAME(cuStreamCreate(&s, 1), 0);
  fake_set("cu*:719+2");
  SAME(cuMemsetD8Async(at, 1, 1, s), 0);
  SAME(cuMemsetD8Async(at, 1, 1, s), CU_LAUNCH_FAILED);
  SAME(cuStreamSynchronize(s), CU_LAUNCH_FAILED);
  SAME(cuMemFree_v2(at), CU_LAUNCH_FAILED);
  SAME(cuStreamDestroy_v2(s), CU_LAUNCH_FAILED);
  fake_set("");
  end(0);
}

// A GPU runs cubins of its major number up to its minor one, and PTX for earlier ones.
static void images(void) {
  Elf64_Ehdr cubin = {.e_ident = ELFMAG, .e_machine = 190, .e_shentsize = sizeof(Elf64_Shdr)};
  static const struct {
    const char *modes;
    int abi;
    unsigned flags;
    int want;
  } all[] = {{"sm:90", 7, 0x5A055A, 0},   {"sm:89", 7, 0x5A055A, CU_NO_BINARY_FOR_GPU},
             {"sm:89", 7, 0x560556, 0},   {"sm:80", 7, 0x560556, CU_NO_BINARY_FOR_GPU},
             {"sm:103", 8, 0x6006402, 0}, {"sm:120", 8, 0x6006402, CU_NO_BINARY_FOR_GPU}};
  begin("");
  CUmodule m;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    fake_set(all[i].modes);
    cubin.e_ident[EI_ABIVERSION] = (unsigned char)all[i].abi;
    cubin.e_flags = all[i].flags;
    SAME(cuModuleLoadData(&m, &cubin), all[i].want);
    if (!all[i].want)
      SAME(cuModuleUnload(m), 0);
  }
  fake_set("sm:70");
  SAME(cuModuleLoadData(&m, ".version 8.8\n.target sm_75\n"), CU_NO_BINARY_FOR_GPU);
  cubin.e_machine = EM_X86_64;
  SAME(cuModuleLoadData(&m, &cubin), CU_INVALID_IMAGE);
  end(0);
}

static int launch(CUfunction f, CUstream s, CUdeviceptr list, uint64_t seed, CUdeviceptr counts) {
  void *arguments[] = {&list, &seed, &counts};
  return cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, s, arguments, NULL);
}

// The kernels run in their stream, with the arguments of the launch.
static void kernels(void) {
  static const char ptx[] =
      ".version 8.8\n.target sm_75\n.entry dsconv_canary_fill\n.entry dsconv_canary_check\n";
  struct {
    uint64_t address;
    int32_t pitch, width, rows, reserved;
  } canary = {0, 20, 16, 4, 0};
  begin("");
  CUmodule m;
  CUfunction fill, check, none;
  CUdeviceptr list, image, counts;
  CUstream s;
  unsigned count, pixel = 0;
  SAME(cuStreamCreate(&s, 1), 0);
  SAME(cuModuleLoadData(&m, "no module"), CU_INVALID_IMAGE);
  SAME(cuModuleLoadData(&m, ptx), 0);
  SAME(cuModuleGetFunction(&fill, m, "dsconv_canary_fill"), 0);
  SAME(cuModuleGetFunction(&check, m, "dsconv_canary_check"), 0);
  SAME(cuModuleGetFunction(&none, m, "dsconv_store"), CU_NOT_FOUND); // not in this module
  SAME(cuModuleGetFunction(&none, m, "other"), CU_NOT_FOUND);
  SAME(cuMemAlloc_v2(&list, sizeof canary), 0);
  SAME(cuMemAlloc_v2(&image, 80), 0);
  SAME(cuMemAlloc_v2(&counts, 4), 0);
  canary.address = image;
  SAME(cuMemcpyHtoDAsync_v2(list, &canary, sizeof canary, s), 0);
  SAME(cuMemsetD32Async(counts, 0, 1, s), 0);
  SAME(launch(fill, s, list, 7, 0), 0);
  SAME(cuMemcpyHtoDAsync_v2(image + 20, &pixel, 4, s), 0); // of row 1
  SAME(launch(check, s, list, 7, counts), 0);
  SAME(cuMemcpyDtoHAsync_v2(&count, counts, 4, s), 0);
  SAME(count, 7); // of 8 runs
  SAME(cuLaunchKernel(check, 0, 1, 1, 256, 1, 1, 0, s, NULL, NULL), CU_INVALID_VALUE);
  fake_set("kernel:719");
  SAME(launch(fill, s, list, 7, 0), 0);
  SAME(cuStreamSynchronize(s), CU_LAUNCH_FAILED);
  fake_set("");
  SAME(cuModuleUnload(m), 0);
  SAME(launch(fill, s, list, 7, 0), CU_INVALID_HANDLE);
  SAME(cuMemFree_v2(list), 0);
  SAME(cuMemFree_v2(image), 0);
  SAME(cuMemFree_v2(counts), 0);
  SAME(cuStreamDestroy_v2(s), 0);
  end(0);
}

int main(int n, char **arguments) {
  static const struct {
    const char *name;
    void (*check)(void);
  } checks[] = {{"late", late},
                {"staging", staging},
                {"events", events},
                {"default stream", default_stream},
                {"misuse", misuse},
                {"freed device memory", freed_device},
                {"freed pinned memory", freed_pinned},
                {"guards", guards},
                {"fork", forked},
                {"modes", modes},
                {"images", images},
                {"kernels", kernels}};
  for (size_t i = 0; n == 2 && i < sizeof checks / sizeof *checks; i++)
    if (!strcmp(checks[i].name, arguments[1])) {
      checks[i].check();
      return 0;
    }
  fprintf(stderr, "no such check\n");
  return 2;
}
