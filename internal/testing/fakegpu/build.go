package fakegpu

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/fakegpu/libraries"
)

// The files in Build's folder. Old is a nvJPEG of CUDA 11, which lacks functions.
const (
	CUDA   = libraries.CUDA
	NVJPEG = libraries.NVJPEG
	Old    = libraries.Old
)

var (
	builds = sync.OnceValues(func() (string, error) { return build(nil) })
	// buildsChecked are the libraries that this process loads.
	buildsChecked = sync.OnceValues(func() (string, error) { return build(flags) })
)

// build compiles the libraries once for each version of their source, and returns their folder.
func build(flags []string) (string, error) {
	hash, err := hashSources(flags)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("dsconv-fakegpu-%d-%s", os.Getuid(), hash))
	if _, err := os.Stat(dir); err == nil {
		return dir, nil
	}
	work, err := os.MkdirTemp(os.TempDir(), "dsconv-fakegpu-")
	if err != nil {
		return "", err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if err := libraries.Compile(work, flags...); err != nil {
		return "", err
	}
	if err := os.Rename(work, dir); err != nil {
		if _, there := os.Stat(dir); there != nil { // another process was faster
			return "", err
		}
	}
	return dir, nil
}

// Build compiles the libraries once for each version of their source, and returns their folder.
func Build(t testing.TB) string {
	t.Helper()
	dir, err := builds()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// hashSources returns a hash of all C files that the libraries are made of, and of how they are compiled.
func hashSources(flags []string) (string, error) {
	h := sha256.New()
	fmt.Fprintln(h, flags, os.Getenv("CC"))
	for _, folder := range []string{libraries.Sources(), filepath.Join(libraries.Sources(), "../../../gpudecode/internal/kernels")} {
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

// Environment is what a process of its own needs to find the libraries instead of NVIDIA's, as NAME=VALUE. It writes its
// violations to the file report. If that is "", the first violation ends it by SIGABRT, with a line on stderr.
func Environment(t testing.TB, modes, report string) []string {
	t.Helper()
	return []string{"LD_LIBRARY_PATH=" + Build(t), "DSCONV_FAKEGPU=" + modes, "DSCONV_FAKEGPU_REPORT=" + report}
}
