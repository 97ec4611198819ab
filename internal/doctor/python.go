package doctor

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"strings"
	"time"

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
