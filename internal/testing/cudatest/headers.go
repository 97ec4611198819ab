// Package cudatest is for tests that compare declarations with NVIDIA's headers, which the packages of
// testdata/requirements.txt bring along. They need no GPU.
package cudatest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Packages is the folder of packages of the Python that DSCONV_PYTHON names. Without one the test is skipped.
func Packages(t testing.TB) string {
	t.Helper()
	python := os.Getenv("DSCONV_PYTHON")
	if python == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	out, err := exec.Command(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").Output()
	if err != nil {
		t.Fatalf("%s: %v", python, err)
	}
	return strings.TrimSpace(string(out))
}

// hostDefines stands for crt/host_defines.h, which comes with NVIDIA's compiler and says nothing of functions or types.
const hostDefines = `
#define __device_builtin__
#define __cudart_builtin__
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __align__(n) __attribute__((aligned(n)))
#define __host__
#define __device__
#define CUDARTAPI
#define CUDARTAPI_CDECL
`

// Compile compiles C source with each version of NVIDIA's header that DSCONV_PYTHON has; the source includes it.
// folders are searched for other headers. Without the header, or a C compiler, the test is skipped.
func Compile(t *testing.T, header, source string, folders ...string) {
	t.Helper()
	compiler, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("no C compiler: cc")
	}
	all, _ := filepath.Glob(filepath.Join(Packages(t), "nvidia/*/include"))
	stub := t.TempDir()
	if err := os.MkdirAll(filepath.Join(stub, "crt"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stub, "crt/host_defines.h"), []byte(hostDefines), 0o644); err != nil {
		t.Fatal(err)
	}
	found := false
	for _, include := range all {
		if _, err := os.Stat(filepath.Join(include, header)); err != nil {
			continue
		}
		found = true
		args := []string{"-x", "c", "-std=gnu11", "-fsyntax-only", "-Wall", "-Werror", "-Wno-unused-variable"}
		// The header's own folder comes first, so that the versions of one CUDA stay together.
		for _, folder := range slices.Concat([]string{include}, all, []string{stub}) {
			args = append(args, "-isystem", folder)
		}
		for _, folder := range folders {
			args = append(args, "-I", folder)
		}
		cc := exec.Command(compiler, append(args, "-")...)
		cc.Stdin = strings.NewReader(source)
		if out, err := cc.CombinedOutput(); err != nil {
			t.Errorf("with %s: %v\n%s", filepath.Join(include, header), err, out)
		}
	}
	if !found {
		t.Skipf("DSCONV_PYTHON lacks a package with nvidia/*/include/%s", header)
	}
}
