// Package doctor examines the machine that dsconv runs on: what dsconv uses, what limits it, what is
// switched off because something is missing, and what switches it on.
//
// Whatever may hang, a network disk or another program, has a time limit. Files are read through
// [Machine.Root], so that tests examine machines that are not there.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/nvjpeg"
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

// Machine is how a machine is asked.
type Machine struct {
	// root is the folder / with /proc, /sys and all others.
	root fs.FS
	// resolve returns the absolute path without links of one that exists.
	resolve func(path string) (string, error)
	// missing reports whether nothing is at the path; nil if something is at each.
	missing func(path string) bool
	// space returns the size of the file system at path and what is free of it, in bytes.
	space func(path string) (size, free uint64, err error)
	// run runs a program, which ctx ends, and returns what it prints.
	run func(ctx context.Context, program *exec.Cmd) ([]byte, error)
	// getenv is os.Getenv.
	getenv func(name string) string
	// nvidia opens NVIDIA's libraries.
	nvidia func(nvjpeg.Search) nvidia
	// cpus is how many processors the process may run on, workers how many dsconv uses by default.
	cpus, workers int
	// goos is runtime.GOOS.
	goos string
	// timeout is how long a disk or a program may take to answer.
	timeout time.Duration
}

// This is the machine that the program runs on. cpus and workers are as Machine has them.
func This(goos string, cpus, workers int) *Machine {
	return &Machine{
		root: os.DirFS("/"), resolve: resolve, missing: missing, space: space, run: run, getenv: os.Getenv, nvidia: openNVIDIA,
		cpus: cpus, workers: workers, goos: goos, timeout: 10 * time.Second,
	}
}

// resolve returns the absolute path of what exists at path, or of the nearest folder above it.
func resolve(path string) (string, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	for up := abs; ; up = filepath.Dir(up) {
		real, err := filepath.EvalSymlinks(up)
		if err == nil || up == filepath.Dir(up) {
			return real, err
		}
	}
}

func missing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(path, "%*?[{") // a pattern of shards is no path
}

func space(path string) (size, free uint64, err error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return st.Blocks * uint64(st.Bsize), st.Bavail * uint64(st.Bsize), nil
}

// run waits for the program alone: not for what it started, which may hold its output open.
func run(_ context.Context, program *exec.Cmd) ([]byte, error) {
	program.WaitDelay = time.Second
	out, err := program.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		if text := strings.TrimSpace(string(exit.Stderr) + string(out)); text != "" {
			first, _, _ := strings.Cut(text, "\n")
			return out, fmt.Errorf("%s: %s", program.Args[0], first)
		}
	}
	return out, err
}

// ask runs a program with the time limit. There is no program without its error being exec.ErrNotFound.
func (m *Machine) ask(ctx context.Context, name string, args ...string) ([]byte, error) {
	return m.limited(ctx, func(ctx context.Context) *exec.Cmd {
		return exec.CommandContext(ctx, name, args...) //nolint:forbidigo // it is not Python
	})
}

// limited is ask of the program that command returns.
func (m *Machine) limited(ctx context.Context, command func(context.Context) *exec.Cmd) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	program := command(limited)
	out, err := m.run(limited, program)
	if limited.Err() != nil {
		return nil, fmt.Errorf("%s did not answer within %v", program.Args[0], m.timeout)
	}
	return out, err
}

// within returns what f returns, or ok false if that takes too long. f is then left behind: nothing can
// end a system call that waits for a disk.
func within[T any](ctx context.Context, limit time.Duration, f func() T) (result T, ok bool) {
	done := make(chan T, 1)
	go func() { done <- f() }()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	select {
	case result = <-done:
		return result, true
	case <-limited.Done():
		return result, false
	}
}

// read returns the text of a small file of the machine, without spaces around it; "" if it cannot be read.
func (m *Machine) read(path string) string {
	text, err := fs.ReadFile(m.root, strings.TrimPrefix(path, "/"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// has reports whether something is at path.
func (m *Machine) has(path string) bool {
	_, err := fs.Stat(m.root, strings.TrimPrefix(path, "/"))
	return err == nil
}

// size formats bytes in powers of two, as memory is sold and limits are given: 64 MiB.
func size(n uint64) string {
	x, i := float64(n), 0
	for ; x >= 1023.5 && i < 5; i++ {
		x /= 1024
	}
	return fmt.Sprintf("%.4g %s", x, []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}[i])
}
