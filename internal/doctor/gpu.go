package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"regexp"
	"strconv"
	"strings"

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
