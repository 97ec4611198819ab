package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// GPU describes the graphics processors, their driver and CUDA, where nvJPEG is, and whether they decode images.
// packages are folders with Python's packages, which may bring CUDA's libraries along.
func (m *Machine) GPU(ctx context.Context, packages []string) []Line {
	gpu := m.gpus(ctx)
	search := nvjpeg.Search{Packages: packages, Root: m.root, Getenv: m.getenv}
	found := m.libraries(ctx, search)
	if !gpu.present && len(found.cards) > 0 { // neither nvidia-smi nor /proc knows of them: WSL, for example
		gpu = graphics{present: true, cuda: found.cuda}
		for _, card := range found.cards {
			gpu.lines = append(gpu.lines, ok("GPU", "%s, %s", card.Name, size(uint64(card.Memory))))
		}
		gpu.lines = append(gpu.lines, gpu.newest())
	}
	search.CUDA = majorOf(gpu.cuda)
	return append(gpu.lines, found.library(gpu.present, search), found.decoding(gpu.present))
}

// graphics is what is known of the graphics processors.
type graphics struct {
	present bool
	cuda    string // the newest version that the driver supports
	lines   []Line
}

func (m *Machine) gpus(ctx context.Context) (g graphics) {
	const name = "GPU"
	driver := m.driver()
	out, err := m.ask(ctx, "nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader")
	if err == nil {
		for line := range strings.Lines(string(out)) {
			if fields := strings.Split(strings.TrimSpace(line), ", "); len(fields) == 3 {
				g.lines = append(g.lines, ok(name, "%s, %s", fields[0], fields[1]))
				driver = fields[2]
			}
		}
	}
	g.present = len(g.lines) > 0
	switch {
	case g.present:
		table, _ := m.ask(ctx, "nvidia-smi")
		newest := regexp.MustCompile(`CUDA[A-Z ]*Version: *([0-9.]+)`) // that the driver supports
		if found := newest.FindSubmatch(table); found != nil {
			g.cuda = string(found[1])
		}
	case driver != "" && !m.has("/dev/nvidiactl"):
		return graphics{lines: []Line{ok(name, "the machine has NVIDIA's driver %s, but no GPU is open to this process", driver).
			warn("start the container with --gpus all (NVIDIA's container toolkit)")}}
	case err != nil && !errors.Is(err, exec.ErrNotFound):
		return graphics{lines: []Line{ok(name, "unknown").warn("%v", err)}}
	case driver == "":
		return graphics{lines: []Line{ok(name, "none from NVIDIA")}}
	default: // nvidia-smi is missing
		g.present, g.lines = true, m.cards()
	}
	if driver != "" {
		g.lines = append(g.lines, ok("NVIDIA driver", "%s", driver))
	}
	if g.cuda != "" {
		g.lines = append(g.lines, g.newest())
	}
	return g
}

// newest says which CUDA the driver supports.
func (g graphics) newest() Line { return ok("CUDA", "up to %s, by the driver", g.cuda) }

// driver returns the version of NVIDIA's kernel driver, "" without one.
func (m *Machine) driver() string {
	line, _, _ := strings.Cut(m.read("/proc/driver/nvidia/version"), "\n")
	version := regexp.MustCompile(`\b\d+\.\d+(\.\d+)?\b`).FindString(line)
	if version == "" && line != "" {
		return "of an unknown version"
	}
	return version
}

// cards returns the GPUs by the driver's own files.
func (m *Machine) cards() (lines []Line) {
	files, _ := fs.Glob(m.root, "proc/driver/nvidia/gpus/*/information")
	for _, file := range files {
		for row := range strings.Lines(m.read(file)) {
			if model, found := strings.CutPrefix(row, "Model:"); found {
				lines = append(lines, ok("GPU", "%s", strings.TrimSpace(model)))
			}
		}
	}
	if lines == nil {
		lines = []Line{ok("GPU", "NVIDIA, of an unknown model")}
	}
	return lines
}

// majorOf returns the first number of a version, 0 without one.
func majorOf(version string) int {
	major, _, _ := strings.Cut(version, ".")
	n, _ := strconv.Atoi(major)
	return n
}

// oldestGPU is the oldest compute capability that kernels are built for.
const oldestGPU = 75

// nvidia is what NVIDIA's libraries say of themselves.
type nvidia struct {
	cards    []cuda.Properties
	cuda     string // the newest version that the driver supports
	noDriver error
	noVideo  bool // nvjpeg.Video is missing
	silent   bool // something did not answer
	// nvjpeg is the library's file. It is opened only if there is a driver; version is "" if it was not.
	nvjpeg, version string
	noLibrary       error
}

// openNVIDIA opens the libraries that decoding would open. No context is created, so no GPU's memory is taken.
func openNVIDIA(search nvjpeg.Search) (n nvidia) {
	driver, err := cuda.Open()
	if err != nil {
		return nvidia{noDriver: err}
	}
	for i := range driver.Devices() {
		card, err := driver.Describe(i)
		if err != nil {
			return nvidia{noDriver: err}
		}
		n.cards = append(n.cards, card)
	}
	major, minor := driver.Version()
	n.cuda = fmt.Sprintf("%d.%d", major, minor)
	search.CUDA = major
	library, err := nvjpeg.Open(search)
	if err != nil {
		n.noLibrary = err
		return n
	}
	n.nvjpeg, n.version, n.noVideo = library.Path(), library.Version(), !nvjpeg.HasVideo()
	return n
}

// decoding says whether GPUs can decode JPEGs, and else what is missing. present is whether there is a GPU of NVIDIA's,
// by other signs than the driver's library.
func (n nvidia) decoding(present bool) Line {
	const name, off = "GPU decoding", "off: %s; images are decoded on the processor's cores"
	switch {
	case errors.Is(n.noDriver, cuda.ErrNotInstalled) && !present:
		return ok(name, off, "this process sees no NVIDIA GPU").advise("a container gets the GPUs of its machine by --gpus all")
	case n.noDriver != nil:
		return ok(name, off, "no GPU can be used").advise("%v", n.noDriver)
	case n.noLibrary != nil:
		return ok(name, off, "no usable nvJPEG").advise("%v", n.noLibrary)
	}
	for _, card := range n.cards {
		if 10*card.Major+card.Minor >= oldestGPU {
			line := ok(name, "ready: %s, compute capability %d.%d; CUDA %s; nvJPEG %s", card.Name, card.Major, card.Minor, n.cuda, n.version)
			if n.noVideo {
				return line.advise("the driver's %s cannot be loaded, without which the JPEG engine of an A100, H100 or newer one is not used: %s", nvjpeg.Video, nvjpeg.VideoAdvice)
			}
			return line.advise("dsconv pack --decoder gpu, or Loader(decoder=\"gpu\") in Python")
		}
	}
	return ok(name, off, fmt.Sprintf("no GPU has compute capability %d.%d or more", oldestGPU/10, oldestGPU%10))
}

// libraries opens NVIDIA's libraries, and finds nvJPEG's file if it was not opened.
func (m *Machine) libraries(ctx context.Context, search nvjpeg.Search) nvidia {
	n, answered := within(ctx, m.timeout, func() nvidia {
		n := m.nvidia(search)
		if n.nvjpeg == "" {
			packages, elsewhere := search.Files()
			if files := slices.Concat(packages, elsewhere); len(files) > 0 {
				n.nvjpeg = files[0]
			}
		}
		return n
	})
	if !answered {
		n.noDriver = fmt.Errorf("the driver or a folder of libraries did not answer within %v", m.timeout)
		n.silent = true
	}
	return n
}

// library says where nvJPEG is.
func (n nvidia) library(present bool, search nvjpeg.Search) Line {
	const name = "nvJPEG"
	switch {
	case n.silent:
		return ok(name, "unknown").warn("%v", n.noDriver)
	case n.version != "":
		return ok(name, "%s, version %s", n.nvjpeg, n.version)
	case n.nvjpeg != "":
		return ok(name, "%s", n.nvjpeg)
	case present:
		return ok(name, "not found").advise("CUDA's JPEG decoder comes with the CUDA toolkit, or with %s", search.Advice())
	}
	return ok(name, "not found")
}
