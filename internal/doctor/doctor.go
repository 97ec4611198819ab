// Package doctor examines the machine that dsconv runs on: what dsconv uses, what limits it, what is
// switched off because something is missing, and what switches it on.
package doctor

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/klauspost/cpuid/v2"
	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/interpreter"
	"github.com/dsconv/dsconv/internal/parallel"
)

// Status says whether a Line needs attention.
type Status string

// The values of Status.
const (
	OK      Status = "ok"
	Warning Status = "warning"
)

// Line is one fact about the machine.
type Line struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Status Status `json:"status"`
	Advice string `json:"advice,omitempty"`
}

func ok(name, format string, args ...any) Line {
	return Line{Name: name, Value: fmt.Sprintf(format, args...), Status: OK}
}

// advise adds advice to a line without a warning.
func (l Line) advise(format string, args ...any) Line {
	l.Advice = fmt.Sprintf(format, args...)
	return l
}

// warn makes the line a warning with advice.
func (l Line) warn(format string, args ...any) Line {
	l.Status = Warning
	return l.advise(format, args...)
}

// Examine describes this build of dsconv, of that version, the machine, the disks of the current folder and of paths, and
// the Python called name. A disk, driver or program that does not answer within 10 seconds is said to hang.
func Examine(ctx context.Context, version, name string, paths []string) []Line {
	lines := append(libraries(version), limits()...)
	names := append([]string{"current folder"}, paths...)
	for i, path := range append([]string{"."}, paths...) {
		lines = append(lines, answer(ctx, deadDisk(names[i]), func() Line { return disk(names[i], path) }))
	}
	p := ask(ctx, name)
	n := answer(ctx, nvidia{noDriver: fmt.Errorf("the driver did not answer within %v", patience)}, func() nvidia { return openNVIDIA(p.Folders) })
	return append(append(lines, n.lines()...), p.lines(version, len(n.cards) > 0)...)
}

func deadDisk(name string) Line {
	return ok(name, "no answer").warn("the disk did not answer within %v: it may be a network disk whose server is gone", patience)
}

// patience is how long a disk, a driver or a program may take to answer.
var patience = 10 * time.Second

// answer returns what f returns, or instead if that takes too long. f is then left behind: nothing can
// end a system call that waits for a disk.
func answer[T any](ctx context.Context, instead T, f func() T) T {
	done := make(chan T, 1)
	go func() { done <- f() }()
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case result := <-done:
		return result
	case <-limited.Done():
		return instead
	}
}

// size formats bytes in powers of two, as memory is sold and limits are given: 64 MiB.
func size(n int64) string {
	x, i := float64(n), 0
	for ; x >= 1023.5 && i < 5; i++ {
		x /= 1024
	}
	return fmt.Sprintf("%.4g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}[i])
}

const needsCgo = "this build lacks it: install gcc and the libraries (make deps), and build with CGO_ENABLED=1"

// libraries describes this build of dsconv, of that version, and the libraries in it.
func libraries(version string) []Line {
	return []Line{
		ok("dsconv", "%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		jpegLine(),
		library("LMDB", lmdb.LibraryVersion(), "writing LMDB is off"),
		library("HDF5", hdf5.LibraryVersion(), "writing HDF5 is off"),
		processor(),
	}
}

func jpegLine() Line {
	line := ok(jpeg.DecoderName, "%s", jpeg.DecoderVersion())
	switch slow := jpeg.SlowJPEG(); {
	case !jpeg.HasLibjpegTurbo:
		return line.warn("images are kept as they are, and not decoded or changed: " + needsCgo)
	case slow != "":
		return line.warn("JPEGs are decoded slowly: %s", slow)
	}
	return line
}

// library is the line of a C library; its version is "" in a build without it.
func library(name, version, off string) Line {
	if version == "" {
		return ok(name, "not in this build").warn("%s: %s", off, needsCgo)
	}
	return ok(name, "%s", version)
}

// processor says whether it has the vector instructions that dsconv's kernels use.
func processor() Line {
	line := ok("processor", "%s", cmp.Or(strings.TrimSpace(cpuid.CPU.BrandName), runtime.GOARCH))
	if runtime.GOARCH != "arm64" && !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		return line.warn("it has no AVX2, or the virtual machine hides it: images are resized and changed several times slower; " +
			"in a virtual machine choose the host's own processor model")
	}
	return line
}

const (
	smallShm    = 1 << 30
	smallMemory = 3 << 29 // images alone may take 1 GiB
	fewFiles    = 4096
)

// limits describes what the process may use: processors, memory, /dev/shm and open files.
func limits() []Line {
	return []Line{cores(runtime.NumCPU(), parallel.Cores()), memory(cache.FreeMemory()), shm(cache.FreeSpace("/dev/shm")), openFiles()}
}

// cores says how many processors there are, and how many of them dsconv uses.
func cores(cpus, workers int) Line {
	if workers >= cpus {
		return ok("cores", "%d", cpus)
	}
	return ok("cores", "%d; dsconv uses %d, as the cgroup's quota or GOMAXPROCS says", cpus, workers).
		advise("programs that count processors start too many workers here: give PyTorch's DataLoader num_workers=%d", workers)
}

// memory says what is free, for the process's cgroups too.
func memory(free int64, err error) Line {
	if err != nil {
		return ok("memory", "unknown").advise("%v", err)
	}
	line := ok("memory", "%s available", size(free))
	if free < smallMemory {
		return line.warn("little memory: large images alone may take 1 GiB, and a process above its cgroup's limit is killed; " +
			"allow the container more, or pack with --memory and load with fewer workers")
	}
	return line
}

func shm(free int64, err error) Line {
	const name = "/dev/shm"
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ok(name, "none").advise("the caches of loaders are files in the folder for temporary files instead")
	case err != nil:
		return ok(name, "unknown").warn("%v", err)
	case free < smallShm:
		return ok(name, "%s free", size(free)).warn("too little for a loader's cache and for PyTorch's DataLoader with workers, which end with a bus error: " +
			"start the container with --shm-size=8g or --ipc=host")
	}
	return ok(name, "%s free", size(free))
}

// openFiles says to how many Go has raised the limit of this process.
func openFiles() Line {
	const name = "open files"
	var l unix.Rlimit
	switch err := unix.Getrlimit(unix.RLIMIT_NOFILE, &l); {
	case err != nil:
		return ok(name, "unknown").advise("%v", err)
	case l.Max > math.MaxInt64:
		return ok(name, "unlimited")
	case l.Max < fewFiles:
		return ok(name, "%d", l.Max).warn("datasets of many files need more: ulimit -n %d, or docker run --ulimit nofile=%d", 1<<16, 1<<16)
	}
	return ok(name, "%d", l.Max)
}

// pythonScript prints what python is. It imports no package: torch takes seconds, and may crash.
//
//go:embed python.py
var pythonScript string

// python is what pythonScript prints.
type python struct {
	Version    string            `json:"version"`
	Executable string            `json:"executable"`
	Folders    []string          `json:"folders"`
	Packages   map[string]string `json:"packages"`
	CUDA       string            `json:"cuda"` // of torch; "" if it was built without

	broken *Line // what is wrong with it instead
}

// ask asks the Python called name.
func ask(ctx context.Context, name string) (p python) {
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	program := interpreter.Command(limited, name, pythonScript)
	program.WaitDelay = time.Second // for what it started, which may hold its output open
	out, err := program.Output()
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		line := ok("Python", "not found: %s", name).advise("name one with --python, if you use dsconv from Python")
		return python{broken: &line}
	}
	var exit *exec.ExitError
	switch {
	case limited.Err() != nil:
		err = fmt.Errorf("%s did not answer within %v", name, patience)
	case errors.As(err, &exit) && len(exit.Stderr) > 0:
		first, _, _ := strings.Cut(strings.TrimSpace(string(exit.Stderr)), "\n")
		err = fmt.Errorf("%s: %s", name, first)
	case err == nil:
		err = json.Unmarshal(out, &p)
	}
	if err != nil {
		line := ok("Python", "%s does not work", name).warn("%v", err)
		return python{broken: &line}
	}
	return p
}

// lines describes the Python and the packages that work with dsconv, whose own version is given; gpu is whether there is one.
func (p *python) lines(version string, gpu bool) []Line {
	if p.broken != nil {
		return []Line{*p.broken}
	}
	return []Line{
		ok("Python", "%s, %s", p.Version, p.Executable), p.dsconv(version), p.torch(gpu),
		p.optional("torchvision", "needed for its transforms and models, such as those of python -m dsconv.train"),
		p.optional("Pillow", "dsconv.Dataset and verify --parity need it"),
	}
}

func (p *python) dsconv(version string) Line {
	line := p.optional("dsconv", "dsconv's wheel, which make wheel builds in its sources, gives this Python the Loader")
	line.Name = "dsconv for Python"
	if folder := p.Packages["other"]; folder != "" {
		line.Value = "not installed: " + folder + " is another project's package of this name"
		return line.warn("pip uninstall dsconv, then install the wheel that make wheel builds in dsconv's sources")
	}
	if installed := p.Packages["dsconv"]; installed != "" && version != "devel" && installed != version {
		return line.warn("this command is dsconv %s: update the older of both", version)
	}
	return line
}

func (p *python) torch(gpu bool) Line {
	line := p.optional("torch", "without it the Loader gives NumPy arrays")
	switch {
	case p.Packages["torch"] == "":
		return line
	case p.CUDA != "":
		line.Value += ", for CUDA " + p.CUDA
		return line
	}
	line.Value += ", without CUDA"
	if gpu {
		return line.warn("this torch does not use the GPU: install a build for CUDA (https://pytorch.org)")
	}
	return line
}

// optional is the line of a package that may be missing, which then has advice.
func (p *python) optional(name, why string) Line {
	if version := p.Packages[name]; version != "" {
		return ok(name, "%s", version)
	}
	return ok(name, "not installed").advise("%s", why)
}
