package fakegpu

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
)

// The files that Compile makes. Old is a nvJPEG of CUDA 11, which lacks functions.
const (
	CUDA   = "libcuda.so.1"
	NVJPEG = "libnvjpeg.so.13"
	Old    = "old/libnvjpeg.so.11"
)

// sources returns this package's folder.
func sources() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// hashSources returns a hash of all C files that the libraries are made of, and of how they are compiled.
func hashSources(flags []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, flags, os.Getenv("CC"))
	for _, folder := range []string{sources(), filepath.Join(sources(), "../../gpudecode/kernels")} {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !slices.Contains([]string{".c", ".h", ".go"}, filepath.Ext(path)) {
				return err
			}
			data, err := os.ReadFile(path)
			fmt.Fprintln(h, path, len(data))
			h.Write(data)
			return err
		})
		if err != nil {
			return "", err
		}
	}
	return fmt.Sprintf("%x", h.Sum(nil)[:8]), nil
}

// Compile makes the libraries in the folder dir. It needs a C compiler and libjpeg-turbo's header, and the source of
// dsconv where this package was compiled. flags are
// more flags of the compiler.
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
	files, err := filepath.Glob(filepath.Join(sources(), folder, "*.c"))
	if err != nil || len(files) == 0 {
		return errors.Join(fmt.Errorf("the C sources of fakegpu are not in %s", sources()), err)
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
