//go:build linux && cgo

package fakegpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/cudatest"
)

// headers returns the folders with NVIDIA's headers of a major version of CUDA, as flags of the compiler.
func headers(t *testing.T, folders ...string) (flags []string) {
	for _, folder := range folders {
		dir := filepath.Join(cudatest.Packages(t), "nvidia", folder)
		if _, err := os.Stat(dir); err != nil {
			t.Skipf("%v: it comes with nvidia-nvjpeg and nvidia-cuda-runtime", err)
		}
		flags = append(flags, "-I"+dir)
	}
	return flags
}

// The fakes' functions are those of NVIDIA's headers: compiled behind the headers, each definition must have the same
// type as the declaration that is there, and each value the same number.
func TestSignatures(t *testing.T) {
	for name, folders := range map[string][]string{
		"CUDA 13": {"cu13/include"},
		"CUDA 12": {"nvjpeg/include", "cuda_runtime/include"},
	} {
		t.Run(name, func(t *testing.T) {
			includes := headers(t, folders...)
			for _, library := range []string{"libcuda", "libnvjpeg"} {
				files, err := filepath.Glob(library + "/*.c")
				if err != nil || len(files) == 0 {
					t.Fatalf("no sources in %s: %v", library, err)
				}
				compare(t, includes, append(files, "testdata/values.c"))
			}
		})
	}
}

func compare(t *testing.T, includes, files []string) {
	for _, file := range files {
		args := append([]string{
			"-std=gnu11", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wmissing-prototypes",
			"-Werror", "-include", "cuda.h", "-include",
			"testdata/runtime.h", "-include", "nvjpeg.h",
		}, includes...)
		if out, err := exec.Command("cc", append(args, file)...).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", file, err, out)
		}
	}
}
