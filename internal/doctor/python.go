package doctor

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"io/fs"
	"os/exec"

	"github.com/dsconv/dsconv/internal/interpreter"
)

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
}

// Python describes the Python called name and the packages that work with dsconv. It returns the folders
// with packages too. version is dsconv's own.
func (m *Machine) Python(ctx context.Context, name, version string) (lines []Line, packages []string) {
	out, err := m.limited(ctx, func(ctx context.Context) *exec.Cmd { return interpreter.Command(ctx, name, pythonScript) })
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return []Line{ok("Python", "not found: %s", name).advise("name one with --python, if you use dsconv from Python")}, nil
	}
	var p python
	if err == nil {
		err = json.Unmarshal(out, &p)
	}
	if err != nil {
		return []Line{ok("Python", "%s does not work", name).warn("%v", err)}, nil
	}
	return []Line{
		ok("Python", "%s, %s", p.Version, p.Executable), p.dsconv(version), p.torch(ctx, m),
		p.optional("torchvision", "needed for its transforms and models, such as those of python -m dsconv.train"),
		p.pillow(),
	}, p.Folders
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

func (p *python) torch(ctx context.Context, m *Machine) Line {
	line := p.optional("torch", "without it the Loader gives NumPy arrays")
	switch {
	case p.Packages["torch"] == "":
		return line
	case p.CUDA != "":
		line.Value += ", for CUDA " + p.CUDA
		return line
	}
	line.Value += ", without CUDA"
	if m.gpus(ctx).present {
		return line.warn("this torch does not use the GPU: install a build for CUDA (https://pytorch.org)")
	}
	return line
}

func (p *python) pillow() Line {
	if simd := p.Packages["Pillow-SIMD"]; simd != "" {
		return ok("Pillow", "Pillow-SIMD %s", simd).advise("its resized pixels may differ from Pillow's, which dsconv's equal")
	}
	return p.optional("Pillow", "dsconv.Dataset and verify --parity need it")
}

// optional is the line of a package that may be missing, which then has advice.
func (p *python) optional(name, why string) Line {
	if version := p.Packages[name]; version != "" {
		return ok(name, "%s", version)
	}
	return ok(name, "not installed").advise("%s", why)
}
