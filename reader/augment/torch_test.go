package augment

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// torch runs a script of testdata with the Python that has torchvision, if there is one, and
// reads what it writes.
func torch(t *testing.T, in, out any, script string, args ...string) {
	t.Helper()
	interpreter := os.Getenv("DSCONV_TORCH_PYTHON")
	if interpreter == "" {
		t.Skip("DSCONV_TORCH_PYTHON is not set")
	}
	data, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), interpreter, append([]string{filepath.Join("testdata", script)}, args...)...)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(data), os.Stderr
	result, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(result, out); err != nil {
		t.Fatal(err)
	}
}

// boxJob is some boxes' way through testdata/boxes.py.
type boxJob struct {
	Boxes []float32 `json:"boxes"`
	H     int       `json:"h"`
	W     int       `json:"w"`
	Ops   [][]any   `json:"ops"`

	plan func(p *Steps)
}

func (j *boxJob) add(plan func(s *Steps), op ...any) {
	before := j.plan
	j.Ops = append(j.Ops, op)
	j.plan = func(s *Steps) {
		if before != nil {
			before(s)
		}
		plan(s)
	}
}

// randomBoxJob moves five boxes two to four times.
func randomBoxJob(rng *rand.Rand) *boxJob {
	j := &boxJob{H: 20 + rng.IntN(80), W: 20 + rng.IntN(80)}
	for range 5 {
		x, y := rng.Float32()*float32(j.W), rng.Float32()*float32(j.H)
		j.Boxes = append(j.Boxes, x, y, x+rng.Float32()*(float32(j.W)-x), y+rng.Float32()*(float32(j.H)-y))
	}
	for range 2 + rng.IntN(3) {
		a, b, angle := rng.IntN(10), rng.IntN(9), rng.Float64()*720-360
		switch rng.IntN(6) {
		case 0:
			j.add(func(p *Steps) { p.Crop(pixel.Rect{X: a, Y: b, W: 9, H: 8}) }, "crop", b, a, 8, 9)
			j.add(func(p *Steps) { p.Resize(40, 50, pixel.Bilinear) }, "resize", 40, 50)
		case 1:
			j.add(func(p *Steps) { p.Flip() }, "flip")
		case 2:
			j.add(func(p *Steps) { p.FlipV() }, "vflip")
		case 3:
			j.add(func(p *Steps) { p.Pad(a, b, 3, 0, PadConstant, nil) }, "pad", a, b, 3, 0)
		case 4:
			j.add(func(p *Steps) { p.Rotate(angle, pixel.Nearest, false, nil, nil) }, "rotate", angle, false, nil)
		case 5:
			c := []float64{float64(a), float64(b)}
			j.add(func(p *Steps) { p.Rotate(angle, pixel.Nearest, false, c, nil) }, "rotate", angle, false, c)
		}
	}
	return j
}

func TestTorchvisionBoxes(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var jobs []*boxJob
	for range 300 {
		jobs = append(jobs, randomBoxJob(rng))
	}
	var want []struct {
		Boxes []float64
		Size  [2]int
	}
	torch(t, jobs, &want, "boxes.py")
	for i, j := range jobs {
		var p Steps
		p.Reset(j.H, j.W, 3)
		j.plan(&p)
		got := p.Boxes(nil, j.Boxes)
		if want[i].Size != [2]int{p.h, p.w} || len(got) != len(want[i].Boxes) {
			t.Fatalf("%v: %dx%d, want %v", j.Ops, p.h, p.w, want[i].Size)
		}
		for k, v := range got {
			if math.Abs(float64(v)-want[i].Boxes[k]) > 1e-3 {
				t.Errorf("%v of %dx%d: boxes %v become %v, want %v", j.Ops, j.H, j.W, j.Boxes, got, want[i].Boxes)
				break
			}
		}
	}
}
