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

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
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

// jointJob is the way of some boxes, a mask and an image through testdata/joint.py.
type jointJob struct {
	Boxes  []float32 `json:"boxes"`
	Pixels []int     `json:"pixels"`
	H      int       `json:"h"`
	W      int       `json:"w"`
	Ops    [][]any   `json:"ops"`

	orientation int
	rotated     bool
	plan        func(p *Steps)
}

func (j *jointJob) add(plan func(s *Steps), op ...any) {
	before := j.plan
	j.Ops = append(j.Ops, op)
	j.plan = func(s *Steps) {
		if before != nil {
			before(s)
		}
		plan(s)
	}
}

// randomJointJob moves five boxes and their image two to four times; every other one is stored turned.
func randomJointJob(rng *rand.Rand) *jointJob {
	j := &jointJob{H: 20 + rng.IntN(40), W: 20 + rng.IntN(40), orientation: 1}
	for range 5 {
		x, y := rng.Float32()*float32(j.W), rng.Float32()*float32(j.H)
		j.Boxes = append(j.Boxes, x, y, x+rng.Float32()*(float32(j.W)-x), y+rng.Float32()*(float32(j.H)-y))
	}
	for range j.H * j.W {
		j.Pixels = append(j.Pixels, rng.IntN(256))
	}
	if rng.IntN(2) == 0 {
		j.orientation = 1 + rng.IntN(8)
		j.add(func(*Steps) {}, "turn", j.orientation)
	}
	for range 2 + rng.IntN(3) {
		a, b, angle := rng.IntN(10), rng.IntN(9), rng.Float64()*720-360
		switch rng.IntN(7) {
		case 0:
			j.add(func(p *Steps) { p.Crop(pixel.Rect{X: a, Y: b, W: 9, H: 8}) }, "crop", b, a, 8, 9)
			j.add(func(p *Steps) { p.Resize(40, 50, pixel.Nearest) }, "resize", 40, 50)
		case 1:
			j.add(func(p *Steps) { p.Flip() }, "flip")
		case 2:
			j.add(func(p *Steps) { p.FlipV() }, "vflip")
		case 3:
			j.add(func(p *Steps) { p.Pad(a, b, 3, 0, PadConstant, nil) }, "pad", a, b, 3, 0)
		case 4:
			j.add(func(p *Steps) { CenterCrop{H: 33 + a, W: 31 + b}.AddTo(p, nil) }, "centercrop", 33+a, 31+b)
		case 5:
			j.rotated = true
			j.add(func(p *Steps) { p.Rotate(angle, pixel.Nearest, false, nil, nil) }, "rotate", angle, false, nil)
		case 6:
			j.rotated = true
			c := []float64{float64(a), float64(b)}
			j.add(func(p *Steps) { p.Rotate(angle, pixel.Nearest, false, c, nil) }, "rotate", angle, false, c)
		}
	}
	return j
}

// jointResult is what torchvision makes of a jointJob.
type jointResult struct {
	Boxes       []float64
	Size        [2]int
	Mask, Image []int
}

// TestTorchvisionJoint compares with torchvision.transforms.v2 on tv_tensors. Boxes are equal but for float32's rounding,
// masks and images equal; of rotated ones a few pixels may be their neighbours, for torchvision computes places in float32.
func TestTorchvisionJoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var jobs []*jointJob
	for range 200 {
		jobs = append(jobs, randomJointJob(rng))
	}
	var want []jointResult
	torch(t, jobs, &want, "joint.py")
	for i, j := range jobs {
		j.check(t, &want[i])
	}
}

func (j *jointJob) check(t *testing.T, want *jointResult) {
	t.Helper()
	var s Steps
	h, w := pixel.OrientedSize(j.H, j.W, j.orientation)
	s.Reset(h, w, 1)
	s.Turned(j.orientation)
	j.plan(&s)
	if h, w := s.Size(); want.Size != [2]int{h, w} {
		t.Fatalf("%v: %dx%d, want %v", j.Ops, h, w, want.Size)
	}
	got := s.Boxes(nil, j.Boxes)
	for k, v := range got {
		if math.Abs(float64(v)-want.Boxes[k]) > 1e-3 {
			t.Errorf("%v of %dx%d: boxes %v become %v, want %v", j.Ops, j.H, j.W, j.Boxes, got, want.Boxes)
			break
		}
	}
	m := &pixel.Image{}
	m.Reset(j.H, j.W, 1, formats.Uint8)
	for k, v := range j.Pixels {
		m.Pix[k] = byte(v)
	}
	var r Runner
	var mask pixel.Image
	if err := r.Mask(&s, m, &mask); err != nil {
		t.Fatal(err)
	}
	j.compare(t, "mask", mask.Pix, want.Mask)
	fit, err := r.Fit(&s, m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := CompileEach(nil, 1, formats.Uint8, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	image := make([]byte, len(want.Image))
	if err := r.Apply(&s, fit, false, resample.Target{Spec: p.Store(), Uint8: image}); err != nil {
		t.Fatal(err)
	}
	if err := r.Store(); err != nil {
		t.Fatal(err)
	}
	j.compare(t, "image", image, want.Image)
}

func (j *jointJob) compare(t *testing.T, what string, got []byte, want []int) {
	t.Helper()
	different := 0
	for k, v := range want {
		if int(got[k]) != v {
			different++
		}
	}
	if different > 0 && (!j.rotated || different > len(want)/50) {
		t.Errorf("%s: %v of %dx%d, orientation %d: %d of %d pixels differ", what, j.Ops, j.H, j.W, j.orientation, different, len(want))
	}
}
