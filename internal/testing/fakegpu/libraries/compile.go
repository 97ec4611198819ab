// Package libraries compiles the libraries of fakegpu.
package libraries

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// The files that Compile makes. Old is a nvJPEG of CUDA 11, which lacks functions.
const (
	CUDA   = "libcuda.so.1"
	NVJPEG = "libnvjpeg.so.13"
	Old    = "old/libnvjpeg.so.11"
)

// Sources returns the folder of fakegpu, in the module of the working directory.
var Sources = sync.OnceValue(func() string {
	out, err := exec.Command("go", "list", "-find", "-f", "{{.Dir}}", "github.com/dsconv/dsconv/internal/testing/fakegpu").Output()
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
})

// Compile makes the libraries in the folder dir. It needs a C compiler and libjpeg-turbo's header, and the source of
// dsconv. flags are more flags of the compiler.
func Compile(dir string, flags ...string) error {
	if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(Old)), 0o755); err != nil {
		return err
	}
	if err := compile(filepath.Join(dir, CUDA), "libcuda", flags...); err != nil {
		return err
	}
	link := append(slices.Clone(flags), "-L"+dir, "-l:"+CUDA, "-Wl,-rpath,$ORIGIN:$ORIGIN/..", "-ljpeg")
	if err := compile(filepath.Join(dir, NVJPEG), "libnvjpeg", link...); err != nil {
		return err
	}
	return compile(filepath.Join(dir, Old), "libnvjpeg", append(link, "-DFAKE_OLD")...)
}

func compile(output, folder string, more ...string) error {
	files, err := filepath.Glob(filepath.Join(Sources(), folder, "*.c"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("the C sources of fakegpu are not in %s", Sources()), err)
	}
	cc := os.Getenv("CC")
	if cc == "" {
		cc = "cc"
	}
	args := append([]string{
		"-std=gnu11", "-D_GNU_SOURCE", "-O1", "-g", "-fPIC", "-shared", "-Wl,-Bsymbolic", "-Wl,-z,nodelete",
		"-Wl,-soname," + filepath.Base(output), "-o", output,
	}, files...)
	args = append(append(args, more...), "-lpthread")
	if out, err := exec.Command(cc, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", filepath.Base(output), err, out)
	}
	return nil
}
