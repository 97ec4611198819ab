package nvjpeg

import (
	"slices"
	"testing"
	"testing/fstest"
)

// Packages come first, then the environment, then the usual places; in a folder the newest version does.
func TestSearch(t *testing.T) {
	root := fstest.MapFS{}
	for _, file := range []string{
		"venv/site-packages/nvidia/nvjpeg/lib/libnvjpeg.so.12",
		"venv/site-packages/nvidia/cu13/lib/libnvjpeg.so.13",
		"venv/site-packages/nvidia/cu13/lib/libcudart.so.13",
		"opt/own/libnvjpeg.so.12",
		"cuda/lib64/libnvjpeg.so",
		"cuda/lib64/libnvjpeg.so.12",
		"cuda/lib64/libnvjpeg.so.12.4.0.76",
		"cuda/lib64/libnvjpeg.so.13",
		"etc/ld.so.conf.d/cuda.conf",
		"configured/libnvjpeg.so.13",
		"usr/local/cuda-12.4/targets/x86_64-linux/lib/libnvjpeg.so.12",
		"usr/lib/x86_64-linux-gnu/libnvjpeg.so.11",
	} {
		root[file] = &fstest.MapFile{}
	}
	root["etc/ld.so.conf.d/cuda.conf"].Data = []byte("/configured\n")
	environment := map[string]string{"LD_LIBRARY_PATH": "relative::/opt/own", "CUDA_HOME": "/cuda"}
	s := Search{
		Packages: []string{"/nothing", "relative", "/venv/site-packages"}, root: root,
		getenv: func(name string) string { return environment[name] },
	}
	packages, elsewhere := s.files()
	equal(t, packages, "/venv/site-packages/nvidia/cu13/lib/libnvjpeg.so.13", "/venv/site-packages/nvidia/nvjpeg/lib/libnvjpeg.so.12")
	equal(t, elsewhere,
		"/opt/own/libnvjpeg.so.12",
		"/cuda/lib64/libnvjpeg.so.13", "/cuda/lib64/libnvjpeg.so.12", "/cuda/lib64/libnvjpeg.so.12.4.0.76", "/cuda/lib64/libnvjpeg.so",
		"/configured/libnvjpeg.so.13",
		"/usr/local/cuda-12.4/targets/x86_64-linux/lib/libnvjpeg.so.12",
		"/usr/lib/x86_64-linux-gnu/libnvjpeg.so.11")
}

func equal(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

// A driver for CUDA 12 cannot work with a library for 13; one whose name says no version may be tried.
func TestSearchFits(t *testing.T) {
	for _, c := range []struct {
		cuda int
		file string
		fits bool
	}{
		{12, "/x/libnvjpeg.so.13", false},
		{12, "/x/libnvjpeg.so.12", true},
		{12, "/x/libnvjpeg.so", true},
		{13, "/x/libnvjpeg.so.13", true},
		{13, "/x/libnvjpeg.so.12", true},
		{0, "/x/libnvjpeg.so.13", true},
	} {
		if err := (Search{CUDA: c.cuda}).fits(c.file); (err == nil) != c.fits {
			t.Errorf("driver for CUDA %d, %s: %v", c.cuda, c.file, err)
		}
	}
}
