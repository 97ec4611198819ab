package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

const (
	// memoryLimit is what a swapping process may have: about half of what subject.py's array and torch take.
	memoryLimit = 512 << 20
	swapSize    = 2 << 30
)

// enter returns the command line that runs args at p, and a function that takes what it set up away again. errNotHere: this machine
// cannot do it.
func (p place) enter(ctx context.Context, scratch string, args []string) (line []string, leave func(), err error) {
	switch p {
	case oneCore:
		return onOneCore(args)
	case lowMemory:
		return withLowMemory(ctx, scratch, args)
	}
	return args, func() {}, nil
}

// onOneCore runs args on the first core that this process may use.
func onOneCore(args []string) ([]string, func(), error) {
	taskset, err := exec.LookPath("taskset")
	if err != nil {
		return nil, nil, fmt.Errorf("%w: no taskset (package util-linux)", errNotHere)
	}
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return nil, nil, err
	}
	_, list, _ := strings.Cut(string(status), "Cpus_allowed_list:")
	first := strings.FieldsFunc(list, func(c rune) bool { return c < '0' || c > '9' })
	if len(first) == 0 {
		return nil, nil, errors.New("/proc/self/status has no list of cores")
	}
	return append([]string{taskset, "-c", first[0]}, args...), func() {}, nil
}

// withLowMemory runs args in a control group that may have memoryLimit, with a file to swap to.
func withLowMemory(ctx context.Context, scratch string, args []string) ([]string, func(), error) {
	if os.Geteuid() != 0 {
		return nil, nil, fmt.Errorf("%w: swapping needs root", errNotHere)
	}
	group, err := memoryGroup()
	if err != nil {
		return nil, nil, err
	}
	swap := filepath.Join(scratch, "swap")
	script := fmt.Sprintf("head -c %d /dev/zero >%[2]s && chmod 600 %[2]s && mkswap -q %[2]s && swapon %[2]s", swapSize, swap)
	if out, err := exec.CommandContext(ctx, "sh", "-c", script).CombinedOutput(); err != nil {
		_ = os.Remove(swap)
		return nil, nil, errors.Join(fmt.Errorf("%w: no swap file: %w: %s", errNotHere, err, out), os.Remove(group))
	}
	leave := func() {
		_ = exec.Command("swapoff", swap).Run() // also after ctx has ended
		_, _ = os.Remove(swap), os.Remove(group)
	}
	join := `echo $$ >"$0/cgroup.procs" && exec "$@"`
	return append([]string{"sh", "-c", join, group}, args...), leave, nil
}

// memoryGroup makes a control group, of version 1 or 2, that may have memoryLimit.
func memoryGroup() (string, error) {
	for _, limit := range []string{"/sys/fs/cgroup/memory/%s/memory.limit_in_bytes", "/sys/fs/cgroup/%s/memory.max"} {
		file := fmt.Sprintf(limit, fmt.Sprintf("dsconv-bottlenecks-%d", os.Getpid()))
		group := filepath.Dir(file)
		if os.Mkdir(group, 0o755) != nil {
			continue
		}
		if setLimit(file) == nil {
			return group, nil
		}
		_ = os.Remove(group)
	}
	return "", fmt.Errorf("%w: no control group for memory", errNotHere)
}

// setLimit writes memoryLimit to a file of a control group. Where the file system is none of control groups, there is no
// such file, and making one would limit nothing.
func setLimit(file string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(f, memoryLimit)
	return errors.Join(err, f.Close())
}
