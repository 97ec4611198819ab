//go:build linux && cgo

package fakegpu_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/fakegpu"
	"github.com/dsconv/dsconv/internal/testing/fakegpu/libraries"
)

// compileCheck compiles a C file of testdata with the libraries of dir.
func compileCheck(t *testing.T, dir, name string, flags ...string) string {
	t.Helper()
	output := filepath.Join(t.TempDir(), name)
	args := append([]string{
		"-std=gnu11", "-Wall", "-Werror", "-O1", "-g", "-o", output, "testdata/" + name + ".c",
		"-L" + dir, "-l:" + fakegpu.NVJPEG, "-l:" + fakegpu.CUDA, "-ljpeg", "-lpthread", "-Wl,-rpath," + dir,
	}, flags...)
	if out, err := exec.Command("cc", args...).CombinedOutput(); err != nil {
		t.Fatalf("cc: %v\n%s", err, out)
	}
	return output
}

// runChecks runs the checks of both C programs, each in a process of its own.
func runChecks(t *testing.T, dir string, flags ...string) {
	checks := map[string][]string{
		"cuda": {
			"late", "staging", "events", "default stream", "misuse", "freed device memory", "freed pinned memory",
			"guards", "fork", "modes", "images", "kernels",
		},
		"nvjpeg": {"engine", "order", "misuse", "modes", "stages"},
	}
	for program, names := range checks {
		path := compileCheck(t, dir, program, flags...)
		for _, name := range names {
			t.Run(program+" "+name, func(t *testing.T) {
				c := exec.Command(path, name)
				c.Env = append(os.Environ(), "DSCONV_FAKEGPU=", "ASAN_OPTIONS=detect_leaks=0:handle_segv=0:handle_sigbus=0")
				if out, err := c.CombinedOutput(); err != nil {
					t.Errorf("%v\n%s", err, out)
				}
			})
		}
	}
}

func TestLibraries(t *testing.T) { runChecks(t, fakegpu.Build(t)) }

// The same with libraries that AddressSanitizer checks.
func TestLibrariesUnderAddressSanitizer(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the libraries once more")
	}
	dir := t.TempDir()
	if err := libraries.Compile(dir, "-fsanitize=address"); err != nil {
		t.Fatal(err)
	}
	runChecks(t, dir, "-fsanitize=address")
}

// A driver that is loaded already is found by its name, as internal/cuda looks for it.
func TestLoad(t *testing.T) {
	if path := fakegpu.Load(t, "skip/2"); filepath.Base(path) != fakegpu.NVJPEG {
		t.Errorf("nvJPEG's path is %s", path)
	}
	if text, n := fakegpu.Live(); n != 0 {
		t.Errorf("before anything was done there are %d: %s", n, text)
	}
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{fakegpu.CUDA, fakegpu.NVJPEG} {
		if !strings.Contains(string(maps), name) {
			t.Errorf("%s is not loaded", name)
		}
	}
}

// A process of its own leaves its violations in a file, or ends with the first.
func TestReport(t *testing.T) {
	const want = "device memory was written behind an allocation of 1000 bytes\n"
	report := filepath.Join(t.TempDir(), "report")
	path := compileCheck(t, fakegpu.Build(t), "report")
	run := func(report string) ([]byte, error) {
		c := exec.Command(path)
		c.Env = append(os.Environ(), fakegpu.Environment(t, "", report)...)
		return c.CombinedOutput()
	}
	if out, err := run(report); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if got, err := os.ReadFile(report); err != nil || string(got) != want {
		t.Errorf("the report is %q (%v), not %q", got, err, want)
	}
	if out, err := run(""); err == nil || string(out) != "fakegpu: "+want {
		t.Errorf("without a report it ended with %v and %q", err, out)
	}
}

// An old nvJPEG has no functions for batches with parameters.
func TestOld(t *testing.T) {
	out, err := exec.Command("nm", "-D", "--defined-only", filepath.Join(fakegpu.Build(t), fakegpu.Old)).Output()
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(out), "nvjpegDecodeBatchedEx") || !strings.Contains(string(out), "nvjpegDecodeBatchedInitialize") {
		t.Errorf("it has\n%s", out)
	}
}
