package main

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/safetensors"
	"github.com/dsconv/dsconv/trainer"
)

// trainings is a dataset as a folder and packed, and how to train on it: 24 steps in 3 epochs.
type trainings struct {
	datasets []string
	flags    []string
}

func newTrainings(t *testing.T) trainings {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "images")
	if p := start(t, []string{os.Args[0], "synth", src, "--n=40", "--classes=3", "--size=48x40", "--split=val=0.25", "--quiet"}); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	packed := filepath.Join(dir, "out.tar")
	if code, said := packTo(t, src, packed); code != exitDone {
		t.Fatal(said)
	}
	return trainings{
		datasets: []string{src, packed},
		flags:    []string{"--batch=4", "--size=16", "--epochs=3", "--checkpoint-every=1", "--json"},
	}
}

// start starts or resumes the training, each time with another format and number of workers.
func (r trainings) start(t *testing.T, file string, turn int) *process {
	t.Helper()
	dataset := r.datasets[turn%len(r.datasets)]
	args := []string{os.Args[0], "train", dataset, "--checkpoint=" + file, "-j=" + strconv.Itoa(1+turn%3)}
	return start(t, append(args, r.flags...))
}

// A training that is killed, or stopped by Ctrl-C, at any moment and resumes ends with the
// weights and results of an undisturbed one, bit for bit.
func TestTrainingIsKilled(t *testing.T) {
	r := newTrainings(t)
	file := filepath.Join(t.TempDir(), "run.safetensors")
	begun := time.Now()
	p := r.start(t, file, 0)
	if p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	took := time.Since(begun)
	want, figures := weightsIn(t, file), figuresOf(t, p)

	random := rand.New(rand.NewPCG(6, 6))
	rounds := 1
	if !quick() {
		rounds = kills(t)
	}
	for round, tries := 0, 0; round < rounds; {
		file := filepath.Join(t.TempDir(), "run.safetensors")
		p, stopped := r.stopped(t, file, func() { time.Sleep(time.Duration(random.Float64() * float64(took) / 2)) })
		t.Logf("stopped after about %v of 24 steps", stopped)
		if len(stopped) >= 4 {
			round++
		} else if tries++; tries > 50*rounds {
			t.Fatal("it is always done before it can be stopped")
		}
		if said := p.said.String(); len(stopped) > 1 && !strings.Contains(said, "resumes in epoch") && !strings.Contains(said, "is finished") {
			t.Errorf("it did not resume: %s", said)
		}
		if d := cmp.Diff(figures, figuresOf(t, p)); d != "" {
			t.Error(d)
		}
		if d := cmp.Diff(want, weightsIn(t, file)); d != "" {
			t.Error("other weights than those of a training that was left alone")
		}
	}
}

// stopped trains with up to five stops. It returns the process that finished, and the number of steps at
// each stop and at the end. If the training is too fast for the test, there are fewer stops.
func (r trainings) stopped(t *testing.T, file string, pause func()) (p *process, stopped []int) {
	t.Helper()
	for turn := 0; ; turn++ {
		before := stepsIn(t, file)
		p = r.start(t, file, turn)
		switch turn {
		case 0, 1, 3: // in the first epoch, at about the end of it, in the third
			step := max(3+turn*5, before+1) // it is at work then, not only started
			p.await(t, func() bool { return stepsIn(t, file) >= step })
		default:
			pause()
		}
		signal := syscall.SIGKILL
		if turn == 1 {
			signal = syscall.SIGINT
		}
		if stopped = append(stopped, stepsIn(t, file)); len(stopped) < 6 {
			_ = p.cmd.Process.Signal(signal) // it may have ended
		}
		if p.wait() == exitDone {
			return p, stopped
		}
		if said := p.said.String(); turn == 1 && !strings.Contains(said, "repeat the command to resume\ndsconv: interrupted") {
			t.Errorf("stopped by Ctrl-C it said: %s", said)
		}
	}
}

// stepsIn returns the number of steps in the checkpoint, 0 before the first one. The checkpoint is complete
// at any moment.
func stepsIn(t *testing.T, file string) int {
	t.Helper()
	if !durable.IsFile(file) {
		return 0
	}
	f, err := safetensors.Read(file)
	must(t, err)
	var state struct {
		Progress trainer.Progress `json:"progress"`
	}
	must(t, json.Unmarshal([]byte(f.Metadata["dsconv.training"]), &state))
	return state.Progress.Steps
}

func weightsIn(t *testing.T, file string) []safetensors.Tensor {
	t.Helper()
	f, err := safetensors.Read(file)
	must(t, err)
	if len(f.Tensors) < 10 {
		t.Fatalf("%d tensors", len(f.Tensors))
	}
	return f.Tensors
}

// figuresOf returns what a training printed, without the times.
func figuresOf(t *testing.T, p *process) trainer.Result {
	t.Helper()
	var r trainer.Result
	said := p.said.Bytes()
	at := bytes.IndexByte(said, '{')
	if at < 0 {
		t.Fatalf("no JSON: %s", said)
	}
	must(t, json.Unmarshal(said[at:], &r))
	r.Seconds = 0
	for i, e := range r.Epochs {
		r.Epochs[i] = trainer.Epoch{Number: e.Number, Train: e.Train, Val: e.Val}
	}
	if len(r.Epochs) != 3 || r.Steps != 24 || r.Epochs[2].Val == nil {
		t.Fatalf("%+v", r)
	}
	return r
}

// Python's reader opens a checkpoint.
func TestCheckpointInPython(t *testing.T) {
	python := os.Getenv("DSCONV_TORCH_PYTHON")
	if python == "" {
		t.Skip("DSCONV_TORCH_PYTHON is not set")
	}
	r := newTrainings(t)
	file := filepath.Join(t.TempDir(), "run.safetensors")
	if p := r.start(t, file, 1); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	const script = `
import sys
from safetensors.torch import load_file
weights = {n: t for n, t in load_file(sys.argv[1]).items() if n.startswith("model/")}
for n in sorted(weights):
    print(n, tuple(weights[n].shape))
assert all(t.isfinite().all() and t.abs().sum() > 0 for t in weights.values())`
	out, err := exec.Command(python, "-c", script, file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	if !slices.Contains(lines, "model/block1/weights (3, 3, 12, 24)") || len(lines) != 6 {
		t.Errorf("%q", lines)
	}
}
