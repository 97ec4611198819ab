//go:build linux && cgo

package cuda_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/fakegpu"
)

// forking calls this package's C code from a program that forks, and that releases a block while it exits: what
// happens to a loader whose consumer does so.
const forking = `
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "calls.h"

#define CHECK(what)                                             \
  if (!(what)) {                                                \
    fprintf(stderr, "%s: line %d: %s\n", who, __LINE__, #what); \
    exit(1);                                                    \
  }

static const char *who = "parent";
static dsconv_cuda_block *late;
static dsconv_cuda_pool *pool;
static int (*fake_live)(char *, size_t);

static void at_exit(void) {
  char text[1000] = "";
  dsconv_cuda_pool_close(pool);
  late->release_after(late, 0);
  if (fake_live(text, sizeof text) != 0) {
    fprintf(stderr, "not freed: %s\n", text);
    _exit(1);
  }
}

int main(int argc, char **argv) {
  char why[100];
  int missing, version, devices;
  dsconv_cuda *api;
  dsconv_cuda_open(argv[1], &api, &missing, why, sizeof why);
  CHECK(api != NULL);
  CHECK((*(void **)&fake_live = dlsym(dlopen(argv[1], RTLD_NOW), "fake_live")) != NULL);
  CHECK(dsconv_cuda_init(api, &version, &devices) == 0);
  dsconv_cuda_device *d = dsconv_cuda_new_device(api, 0);
  CHECK(dsconv_cuda_retain(d) == 0);
  uintptr_t stream, event;
  CHECK(dsconv_cuda_stream_new(d, &stream) == 0);
  CHECK(dsconv_cuda_event_new(d, &event) == 0);
  CHECK(dsconv_cuda_pool_new(d, 100, &pool) == 0);
  dsconv_cuda_block *a, *b;
  CHECK(dsconv_cuda_pool_take(pool, stream, &a) == 0);
  CHECK(dsconv_cuda_pool_take(pool, stream, &late) == 0);
  pid_t child = fork();
  if (child == 0) {
    who = "child";
    dsconv_cuda_properties p;
    CUdeviceptr address;
    CHECK(dsconv_cuda_describe(api, 0, &p) == DSCONV_CUDA_FORKED);
    CHECK(dsconv_cuda_retain(d) == DSCONV_CUDA_FORKED);
    CHECK(dsconv_cuda_alloc(d, 100, &address) == DSCONV_CUDA_FORKED);
    CHECK(dsconv_cuda_stream_sync(d, stream, event) == DSCONV_CUDA_FORKED);
    CHECK(dsconv_cuda_pool_take(pool, stream, &b) == DSCONV_CUDA_FORKED);
    a->release(a); // garbage is collected in the child too
    late->release_after(late, 0);
    dsconv_cuda_pool_close(pool);
    CHECK(dsconv_cuda_stream_free(d, stream) == DSCONV_CUDA_FORKED);
    CHECK(dsconv_cuda_release(d) == DSCONV_CUDA_FORKED);
    exit(0);
  }
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  a->release(a);
  CHECK(dsconv_cuda_pool_take(pool, stream, &b) == 0 && b == a);
  b->release_after(b, (CUstream)stream);
  CHECK(dsconv_cuda_stream_sync(d, stream, event) == 0);
  CHECK(dsconv_cuda_event_free(d, event) == 0);
  CHECK(dsconv_cuda_stream_free(d, stream) == 0);
  CHECK(dsconv_cuda_release(d) == 0);
  atexit(at_exit);
  return 0;
}
`

// A process that was forked after CUDA had been opened gets errors, touches nothing, and disturbs its parent in
// nothing. A block may be released while the process exits.
func TestFork(t *testing.T) {
	libraries := fakegpu.Build(t)
	dir := t.TempDir()
	source, program, report := filepath.Join(dir, "main.c"), filepath.Join(dir, "main"), filepath.Join(dir, "report")
	if err := os.WriteFile(source, []byte(forking), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"-std=gnu11", "-Wall", "-Werror", "-Wno-unused-parameter", "-I.", "-o", program, source, "open.c", "pool.c"}
	if out, err := exec.Command("cc", append(args, "-ldl", "-lpthread")...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	run := exec.Command(program, filepath.Join(libraries, fakegpu.CUDA))
	run.Env = append(os.Environ(), fakegpu.Environment(t, "", report)...)
	if out, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if text, err := os.ReadFile(report); err == nil {
		t.Errorf("violations of CUDA's rules:\n%s", text)
	}
}
