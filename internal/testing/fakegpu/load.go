//go:build linux && cgo

package fakegpu

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdlib.h>

static void *open_library(const char *path) { return dlopen(path, RTLD_NOW | RTLD_GLOBAL); }
static void set(void *library, const char *modes) {
  ((void (*)(const char *))dlsym(library, "fake_set"))(modes);
}
static int report(void *library, const char *function, char *text, size_t size) {
  return ((int (*)(char *, size_t))dlsym(library, function))(text, size);
}
static int read_memory(void *library, void *to, unsigned long long at, size_t size) {
  return ((_Bool (*)(void *, unsigned long long, size_t))dlsym(library, "fake_read"))(to, at, size);
}
static long count(void *library, const char *name) {
  return ((long (*)(const char *))dlsym(library, "fake_count"))(name);
}
*/
import "C"

import (
	"path/filepath"
	"sync"
	"testing"
	"unsafe"
)

var loaded = struct {
	sync.Mutex
	library unsafe.Pointer
}{}

func open(t testing.TB, path string) unsafe.Pointer {
	name := C.CString(path)
	defer C.free(unsafe.Pointer(name))
	library := C.open_library(name)
	if library == nil {
		t.Fatalf("%s: %s", path, C.GoString(C.dlerror()))
	}
	return library
}

// Load loads the libraries into this process, where dlopen then finds them under their names, and sets modes. It
// returns the path of nvJPEG. When the test ends, violations and what was not freed are its failures. Tests that use it
// must not run in parallel with each other.
func Load(t testing.TB, modes string) string {
	t.Helper()
	dir, err := buildsChecked()
	if err != nil {
		t.Fatal(err)
	}
	loaded.Lock()
	if loaded.library == nil {
		loaded.library = open(t, filepath.Join(dir, CUDA))
		open(t, filepath.Join(dir, NVJPEG))
	}
	loaded.Unlock()
	violations()
	Set(modes)
	t.Cleanup(func() {
		if text, n := violations(); n > 0 {
			t.Errorf("%d violations of CUDA's or nvJPEG's rules:\n%s", n, text)
		}
		if text, n := Live(); n > 0 {
			t.Errorf("not freed: %s", text)
		}
		Set("")
	})
	return filepath.Join(dir, NVJPEG)
}

// Set replaces the modes, sets what Count counts to zero and makes a lost GPU work again. Load must have been called.
func Set(modes string) {
	text := C.CString(modes)
	defer C.free(unsafe.Pointer(text))
	C.set(loaded.library, text)
}

func report(function string) (string, int) {
	const size = 1 << 12
	name := C.CString(function)
	defer C.free(unsafe.Pointer(name))
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	n := C.report(loaded.library, name, text, size)
	return C.GoString(text), int(n)
}

// violations returns what was against the rules since the last call, a line each, and how often something was.
func violations() (string, int) { return report("fake_violations") }

// Live returns what was created and not freed or destroyed, and how much of it there is.
func Live() (string, int) { return report("fake_live") }

// Count returns how often since Set a function was called, or how many "engine images" or "cuda images" were decoded.
func Count(name string) int {
	text := C.CString(name)
	defer C.free(unsafe.Pointer(text))
	return int(C.count(loaded.library, text))
}

// Read copies memory of the GPU to dst as it is now: it waits for no stream, so it shows what a reader sees who was told
// that the work is done. It reports whether all of it is allocated memory.
func Read(dst []byte, address uintptr) bool {
	return len(dst) == 0 || C.read_memory(loaded.library, unsafe.Pointer(&dst[0]), C.ulonglong(address), C.size_t(len(dst))) != 0
}
