package bench

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/bench/verdict"
	"github.com/dsconv/dsconv/internal/synth"
)

// onOneCore, if it is set, is the folder that this process measures on the one core that it was left.
const onOneCore = "DSCONV_BENCH_ON_ONE_CORE"

// TestShortOfCPU measures six workers on a single core, in a process of its own: the cores are the cause,
// although decoding takes most of the workers' time. One worker is not short of cores, however busy the machine is.
func TestShortOfCPU(t *testing.T) {
	if dir := os.Getenv(onOneCore); dir != "" {
		measureOnOneCore(t, dir)
		return
	}
	dir := filepath.Join(t.TempDir(), "images")
	if err := synth.Write(t.Context(), dir, synth.Options{N: 96, Classes: 2, Width: 320, Height: 240}, nil); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.CommandContext(t.Context(), self, "-test.run=^TestShortOfCPU$", "-test.count=1")
	child.Env = append(os.Environ(), onOneCore+"="+dir)
	child.Stderr = os.Stderr
	defer leaveOneCore(t)()
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(dir + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var reports []*Report
	if err := json.Unmarshal(data, &reports); err != nil {
		t.Fatal(err)
	}
	for _, r := range reports {
		d := &r.Datasets[0]
		if short := d.Verdict != nil && d.Verdict.Cause == verdict.OfCores; short != (r.Options.Workers > 1) {
			t.Errorf("%d workers: %+v of %+v", r.Options.Workers, d.Verdict, d.Costs)
		}
	}
}

// leaveOneCore lets processes that the test's goroutine starts run on one core, until the function it returns is called.
func leaveOneCore(t *testing.T) (restore func()) {
	var all, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		t.Fatal(err)
	}
	for cpu := range 1024 {
		if all.IsSet(cpu) {
			one.Set(cpu)
			break
		}
	}
	runtime.LockOSThread()
	if err := unix.SchedSetaffinity(0, &one); err != nil {
		t.Skipf("the affinity cannot be set here: %v", err)
	}
	return func() {
		if err := unix.SchedSetaffinity(0, &all); err == nil { // else the thread ends with the goroutine
			runtime.UnlockOSThread()
		}
	}
}

// measureOnOneCore writes the reports beside the folder.
func measureOnOneCore(t *testing.T, dir string) {
	var reports []*Report
	for _, workers := range []int{6, 1} {
		o := Options{Rounds: 2}
		o.Workers, o.BatchSize = workers, 8
		r, err := Run(t.Context(), []string{dir}, o)
		if err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	data, err := json.Marshal(reports)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+".json", data, 0o600); err != nil {
		t.Fatal(err)
	}
}
