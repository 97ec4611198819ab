package augment

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// job is one image's way through testdata/peer.py.
type job struct {
	Op    string `json:"op"`
	In    string `json:"in"`
	Shape [3]int `json:"shape"`
	Args  []any  `json:"args"`
	Out   string `json:"out"`

	image *pixel.Image
}

func newJob(op string, m *pixel.Image, args ...any) *job {
	return &job{Op: op, Shape: [3]int{m.H, m.W, m.C}, Args: append([]any{}, args...), image: m}
}

// python is the interpreter to compare with, if there is one with the modules.
func python(t *testing.T, modules ...string) string {
	t.Helper()
	path := os.Getenv("DSCONV_PYTHON")
	if path == "" {
		t.Skip("DSCONV_PYTHON is not set")
	}
	find := "import importlib.util as u, sys; sys.exit(any(u.find_spec(m) is None for m in sys.argv[1:]))"
	args := append([]string{"-c", find}, modules...)
	if err := exec.CommandContext(t.Context(), path, args...).Run(); err != nil {
		t.Skipf("DSCONV_PYTHON lacks one of %v", modules)
	}
	return path
}

// torchPython is the interpreter that DSCONV_TORCH_PYTHON names, which has torchvision.
func torchPython(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DSCONV_TORCH_PYTHON")
	if path == "" {
		t.Skip("DSCONV_TORCH_PYTHON is not set")
	}
	return path
}

// peer runs the jobs and gives back what each wrote.
func peer(t *testing.T, interpreter string, jobs []*job) [][]byte {
	t.Helper()
	dir := t.TempDir()
	for i, j := range jobs {
		j.In, j.Out = filepath.Join(dir, fmt.Sprint(i, ".in")), filepath.Join(dir, fmt.Sprint(i, ".out"))
		if err := os.WriteFile(j.In, j.image.Pix, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, filepath.Join("testdata", "peer.py"))
	cmd.Stdin = bytes.NewReader(list)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var results [][]byte
	for _, j := range jobs {
		result, err := os.ReadFile(j.Out)
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, result)
	}
	return results
}

// smooth is an image with all kinds of colours, smooth as photos are.
func smooth(h, w, c int) *pixel.Image {
	m := noise(h, w, c, 11)
	for i := range m.Pix {
		x, y := i/c%w, i/c/w
		m.Pix[i] = uint8(min(255, max(0, (x*(3+i%c)+y*(5-i%c)*(1+i%c))%256+int(m.Pix[i])/8)))
	}
	return m
}

func TestPillowResizeCenterCrop(t *testing.T) {
	interpreter := python(t, "PIL", "numpy")
	var jobs []*job
	for _, size := range [][2]int{{75, 100}, {101, 75}, {64, 64}, {30, 211}, {57, 40}} {
		for _, c := range []int{1, 3} {
			jobs = append(jobs, newJob("shorter_center", smooth(size[0], size[1], c), 51, 45, 44))
		}
	}
	for i, want := range peer(t, interpreter, jobs) {
		m := jobs[i].image
		got := outcome(t, m, 0, false, Resize{Shorter: 51}, CenterCrop{H: 45, W: 44})
		if !bytes.Equal(got, want) {
			t.Errorf("%dx%dx%d differs", m.W, m.H, m.C)
		}
	}
}

func TestPillowRandomResizedCropFlip(t *testing.T) {
	interpreter := python(t, "PIL", "numpy")
	var jobs []*job
	o := RandomResizedCrop{H: 64, W: 40}
	for seed := range 60 {
		m := smooth(75+seed, 100, 1+seed%2*2)
		r := random.NewRand(uint64(seed), 0, 0)
		c := o.draw(m.H, m.W, &r)
		jobs = append(jobs, newJob("crop_resize_flip", m, c.X, c.Y, c.W, c.H, o.W, o.H))
	}
	for seed, want := range peer(t, interpreter, jobs) {
		got := outcome(t, jobs[seed].image, uint64(seed), false, o, RandomHorizontalFlip{P: 1})
		if !bytes.Equal(got, want) {
			t.Errorf("seed %d: crop %v differs by up to %d", seed, jobs[seed].Args, furthest(got, want))
		}
	}
}

func differences(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

func furthest(a, b []byte) (d int) {
	for i := range a {
		d = max(d, int(a[i])-int(b[i]), int(b[i])-int(a[i]))
	}
	return d
}

// TestTorchvision runs its peer once, for it takes seconds to start.
func TestTorchvision(t *testing.T) {
	interpreter := torchPython(t)
	colors, autos, crops, evals := colorJobs("tv_"), automaticJobs(), centerCropJobs(), evalJobs()
	results := peer(t, interpreter, slices.Concat(colors.jobs, autos.jobs, crops, evals))
	t.Run("Colors", func(t *testing.T) { colors.check(t, results[:len(colors.jobs)]) })
	results = results[len(colors.jobs):]
	t.Run("AutoAugment", func(t *testing.T) { autos.check(t, results[:len(autos.jobs)]) })
	results = results[len(autos.jobs):]
	t.Run("CenterCrop", func(t *testing.T) {
		for i, j := range crops {
			if got := outcome(t, j.image, 0, false, CenterCrop{H: 30, W: 31}); !bytes.Equal(got, results[i]) {
				t.Errorf("%dx%d differs", j.image.W, j.image.H)
			}
		}
	})
	results = results[len(crops):]
	t.Run("Eval", func(t *testing.T) { checkEval(t, evals, results) })
}

// centerCropJobs covers images that are smaller and must be padded.
func centerCropJobs() (jobs []*job) {
	for _, size := range [][2]int{{40, 40}, {21, 40}, {40, 22}, {21, 22}, {31, 30}} {
		jobs = append(jobs, newJob("tv_center_crop", smooth(size[0], size[1], 3), 30, 31))
	}
	return jobs
}

func evalJobs() []*job {
	return []*job{newJob("tv_eval", smooth(375, 500, 3), 56, 64), newJob("tv_eval", smooth(130, 99, 3), 56, 64)}
}

// checkEval compares whole float32 NCHW entries bit for bit.
func checkEval(t *testing.T, jobs []*job, results [][]byte) {
	p, err := Compile(append(Eval(56), ImageNet), 0, 0, 3, formats.Float32, pixel.NCHW)
	if err != nil {
		t.Fatal(err)
	}
	for i, j := range jobs {
		var plan Steps
		p.Draw(&plan, j.image.H, j.image.W, new(random.Rand))
		entry := make([]float32, 3*56*56)
		run(t, &plan, j.image, false, resample.Target{Spec: p.Store(), Float32: entry})
		got, err := binary.Append(nil, binary.LittleEndian, entry)
		if err != nil || !bytes.Equal(got, results[i]) {
			t.Errorf("%dx%d differs; %v", j.image.W, j.image.H, err)
		}
	}
}
