package nvjpeg

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Search says where nvJPEG is looked for.
type Search struct {
	// Path is the library. If it is set, nothing else is tried.
	Path string
	// Packages are folders of Python packages, in which pip puts nvidia-nvjpeg.
	Packages []string
	// CUDA is the newest major version of CUDA that the driver supports; libraries for newer ones are passed over.
	// 0 takes any.
	CUDA int
	// root is the folder /, and getenv asks for a variable of the environment; nil are this machine's.
	root   fs.FS
	getenv func(name string) string
}

// sonames are the names by which the system's loader finds the library, the newest first.
var sonames = []string{"libnvjpeg.so.13", "libnvjpeg.so.12"}

// files returns the libraries in folders of Python packages, which PyTorch loads too, and those elsewhere that exist,
// each in the order in which they are tried.
func (s Search) files() (packages, elsewhere []string) {
	if s.root == nil {
		s.root, s.getenv = os.DirFS("/"), os.Getenv
	}
	var dirs []string
	for _, dir := range s.Packages {
		dirs = append(dirs, path.Join(dir, "nvidia/*/lib"))
	}
	packages = s.in(dirs)
	dirs = strings.Split(s.getenv("LD_LIBRARY_PATH"), ":")
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"} {
		if root := s.getenv(name); root != "" {
			dirs = append(dirs, path.Join(root, "lib64"), path.Join(root, "lib"))
		}
	}
	configured, _ := fs.Glob(s.root, "etc/ld.so.conf.d/*.conf")
	for _, file := range configured {
		text, _ := fs.ReadFile(s.root, file)
		dirs = append(dirs, strings.Fields(string(text))...)
	}
	return packages, s.in(append(dirs,
		"/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/opt/cuda/lib64", "/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib"))
}

// in returns the libraries in folders, those of one folder from the newest on.
func (s Search) in(dirs []string) (files []string) {
	for _, dir := range dirs {
		if !path.IsAbs(dir) {
			continue
		}
		found, _ := fs.Glob(s.root, path.Join(dir, "libnvjpeg.so*")[1:])
		slices.SortStableFunc(found, func(a, b string) int { return cmp.Compare(major(b), major(a)) })
		for _, file := range found {
			files = append(files, "/"+file)
		}
	}
	return files
}

// major is the major version in the name of a library, 0 without one.
func major(file string) int {
	_, version, _ := strings.Cut(path.Base(file), ".so.")
	first, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(first)
	return n
}

// fits reports why the driver cannot work with a library; nil if it may.
func (s Search) fits(file string) error {
	if m := major(file); s.CUDA > 0 && m > s.CUDA {
		return fmt.Errorf("%s is for CUDA %d, and the driver supports CUDA %d: update the driver, or %s", file, m, s.CUDA, s.advice())
	}
	return nil
}

// advice is what provides nvJPEG for the driver.
func (s Search) advice() string {
	if s.CUDA > 0 && s.CUDA < 13 {
		return "pip install nvidia-nvjpeg-cu12"
	}
	return "pip install nvidia-nvjpeg"
}
