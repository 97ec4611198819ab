package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
)

// GPU describes the graphics processors, their driver and CUDA, and where nvJPEG is. packages are folders
// with Python's packages, which may bring CUDA's libraries along.
func (m *Machine) GPU(ctx context.Context, packages []string) []Line {
	gpu := m.gpus(ctx)
	jpeg := ok("nvJPEG", "not found")
	file, answered := within(ctx, m.timeout, func() string { return m.nvjpeg(packages) })
	switch {
	case !answered:
		jpeg = ok("nvJPEG", "unknown").warn("a folder of libraries did not answer within %v", m.timeout)
	case file != "":
		jpeg.Value = file
	case gpu.present:
		jpeg = jpeg.advise("CUDA's JPEG decoder comes with the CUDA toolkit, or with pip install nvidia-nvjpeg-cu%s", majorOr(gpu.cuda, "12"))
	}
	return append(gpu.lines, jpeg, ok("GPU decoding", "off: this build of dsconv has none; images are decoded on the processor's cores"))
}

// graphics is what is known of the graphics processors.
type graphics struct {
	present bool
	cuda    string // the newest version that the driver supports
	lines   []Line
}

// cudaVersion is how nvidia-smi prints the newest CUDA that the driver supports.
var cudaVersion = regexp.MustCompile(`CUDA[A-Z ]*Version: *([0-9.]+)`)

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
		if found := cudaVersion.FindSubmatch(table); found != nil {
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
		g.lines = append(g.lines, ok("CUDA", "up to %s, by the driver", g.cuda))
	}
	return g
}

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

// nvjpeg returns the file of CUDA's JPEG decoder, "" if it is not where programs look for it.
func (m *Machine) nvjpeg(packages []string) string {
	var dirs []string
	for _, p := range packages { // torch loads the one that pip installed beside it
		dirs = append(dirs, path.Join(p, "nvidia/*/lib"))
	}
	for dir := range strings.SplitSeq(m.getenv("LD_LIBRARY_PATH"), ":") {
		dirs = append(dirs, dir)
	}
	for _, name := range []string{"CUDA_HOME", "CUDA_PATH", "CONDA_PREFIX"} {
		if root := m.getenv(name); root != "" {
			dirs = append(dirs, path.Join(root, "lib64"), path.Join(root, "lib"))
		}
	}
	configured, _ := fs.Glob(m.root, "etc/ld.so.conf.d/*.conf")
	for _, file := range configured {
		dirs = append(dirs, strings.Fields(m.read(file))...)
	}
	dirs = append(dirs, "/usr/local/cuda*/lib64", "/usr/local/cuda*/targets/*/lib", "/opt/cuda/lib64", "/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib")
	for _, dir := range dirs {
		if !path.IsAbs(dir) {
			continue
		}
		if found, _ := fs.Glob(m.root, path.Join(dir, "libnvjpeg.so*")[1:]); len(found) > 0 {
			slices.Sort(found)
			return "/" + found[0]
		}
	}
	return ""
}

// majorOr returns the first number of a version, or usual without a version.
func majorOr(version, usual string) string {
	if major, _, _ := strings.Cut(version, "."); major != "" {
		return major
	}
	return usual
}
