package augment

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// planned is an Op that plans what a function says, for tests.
type planned func(p *Steps)

func (planned) String() string                   { return "planned" }
func (planned) Check(int) error                  { return nil }
func (o planned) AddTo(s *Steps, _ *random.Rand) { o(s) }

var affineFilters = []pixel.Filter{pixel.Nearest, pixel.Bilinear, pixel.Bicubic}

// fillOf has a value for each of c channels.
func fillOf(c int) []float64 { return []float64{200, 0, 19, 90}[:c] }

// move is a job and the op that must do the same.
type move struct {
	*job
	op Op
}

// TestPillowGeometry runs its peer once, for it takes a while to start.
func TestPillowGeometry(t *testing.T) {
	moves := slices.Concat(affineMoves(), deepMoves(), rotations(), paddings())
	moves = append(moves, move{newJob("vflip", noise(7, 9, 3, 9), []any{}...), RandomVerticalFlip{P: 1}})
	jobs := make([]*job, len(moves))
	for i, m := range moves {
		jobs[i] = m.job
	}
	for i, want := range peer(t, python(t, "PIL", "numpy"), jobs) {
		m := moves[i]
		got := m.outcome(t)
		if !bytes.Equal(got, want) {
			t.Errorf("%s %v of %dx%dx%d: %d values, want %d; %d differ", m.Op, m.Args,
				m.image.W, m.image.H, m.image.C, len(got), len(want), differences(got[:min(len(got), len(want))], want))
		}
	}
}

// outcome is what the op makes of the job's image.
func (m move) outcome(t *testing.T) []byte {
	if m.Op != "affine16" {
		return outcome(t, m.image, 0, false, m.op)
	}
	deep := *m.image // two bytes a value
	deep.C, deep.DType = 1, formats.Uint16
	got, err := binary.Append(nil, binary.LittleEndian, outcome16(t, &deep, m.op))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func affineMoves() (moves []move) {
	for _, matrix := range affineMatrices() {
		for _, f := range affineFilters {
			for c := 1; c <= 4; c++ {
				moves = append(moves, move{
					newJob("affine", noise(48, 61, c, 9), matrix, f, fillOf(c)),
					planned(func(p *Steps) { p.Affine(matrix, f, fillOf(c)) }),
				})
			}
		}
	}
	return moves
}

func deepMoves() (moves []move) {
	for _, matrix := range affineMatrices() {
		for _, f := range affineFilters {
			moves = append(moves, move{
				newJob("affine16", noise(48, 61, 2, 9), matrix, f, []int{40000}),
				planned(func(p *Steps) { p.Affine(matrix, f, []float64{40000}) }),
			})
		}
	}
	return moves
}

func rotations() (moves []move) {
	for _, angle := range []float64{0, 12.5, 45, -30.3, 89.999, 90, 180, 270, -90, 360, 450, 1234.5, 180.0001} {
		for _, size := range [][3]int{{48, 61, 3}, {40, 40, 1}, {1, 9, 3}} {
			for _, center := range [][]float64{nil, {10, 20.5}} {
				for _, expand := range []bool{false, true} {
					f, fill := affineFilters[len(moves)%3], fillOf(size[2])
					moves = append(moves, move{
						newJob("rotate", noise(size[0], size[1], size[2], 9), angle, f, expand, center, fill),
						planned(func(p *Steps) { p.Rotate(angle, f, expand, center, fill) }),
					})
				}
			}
		}
	}
	return moves
}

func paddings() (moves []move) {
	for _, mode := range padModes {
		for _, b := range [][4]int{{0, 0, 0, 0}, {4, 4, 4, 4}, {1, 2, 3, 0}, {0, 9, 0, 30}, {60, 0, 41, 2}} {
			for _, size := range [][3]int{{10, 13, 3}, {1, 8, 1}, {9, 1, 3}, {2, 2, 1}} {
				fill := fillOf(size[2])
				moves = append(moves, move{
					newJob("pad", noise(size[0], size[1], size[2], 9), b[0], b[1], b[2], b[3], mode, fill),
					planned(func(p *Steps) { p.Pad(b[0], b[1], b[2], b[3], mode, fill) }),
				})
			}
		}
	}
	return moves
}

// deep makes 16-bit pixels of m's, each 257 times as much.
func deep(m *pixel.Image) *pixel.Image {
	d := &pixel.Image{}
	d.Reset(m.H, m.W, m.C, formats.Uint16)
	for i, v := range m.Pix {
		binary.LittleEndian.PutUint16(d.Pix[2*i:], 257*uint16(v))
	}
	return d
}

// outcome16 is what op makes of the 16-bit image m.
func outcome16(t *testing.T, m *pixel.Image, op Op) []uint16 {
	t.Helper()
	p, err := Compile([]Op{op}, m.H, m.W, m.C, formats.Uint16, pixel.NHWC)
	if err != nil {
		t.Fatal(err)
	}
	var plan Steps
	r := random.NewRand(0, 0, 0)
	p.Draw(&plan, m.H, m.W, &r)
	shape := p.Shape()
	out := make([]uint16, shape[0]*shape[1]*shape[2])
	run(t, &plan, m, false, resample.Target{Spec: p.Store(), Half: out})
	return out
}

// What moves whole pixels moves 16-bit pixels just so.
func TestDeepPixelsMoveAlike(t *testing.T) {
	for name, op := range map[string]Op{
		"pad":       planned(func(p *Steps) { p.Pad(1, 2, 3, 4, PadReflect, nil) }),
		"fill":      planned(func(p *Steps) { p.Pad(1, 2, 3, 4, "", []float64{0}) }),
		"flips":     planned(func(p *Steps) { p.Flip(); p.FlipV() }),
		"turn":      planned(func(p *Steps) { p.FlipV(); p.Rotate(90, pixel.Nearest, true, nil, nil) }),
		"crop":      RandomCrop{H: 5, W: 6, Padding: [4]int{2, 2, 2, 2}},
		"affine":    planned(func(p *Steps) { p.Affine([6]float64{0.9, 0.2, 1, -0.2, 0.9, 3}, pixel.Nearest, nil) }),
		"flip crop": planned(func(p *Steps) { p.FlipV(); p.Crop(pixel.Rect{X: 1, Y: 2, W: 5, H: 3}) }),
	} {
		for _, c := range []int{1, 3} {
			m := noise(9, 14, c, 3)
			shallow, got := outcome(t, m, 0, false, op), outcome16(t, deep(m), op)
			for i, v := range shallow {
				if got[i] != 257*uint16(v) {
					t.Fatalf("%s, %d channels: element %d is %d, want %d", name, c, i, got[i], 257*uint16(v))
				}
			}
		}
	}
}

func TestSmallImagesCannotBeCropped(t *testing.T) {
	p, err := Compile([]Op{RandomCrop{H: 8, W: 8, Padding: [4]int{1, 1, 1, 1}}, RandomHorizontalFlip{P: 1}}, 0, 0, 3, formats.Uint8, pixel.NHWC)
	if err != nil || p.Shape() != [3]int{8, 8, 3} {
		t.Fatalf("shape %v, %v", p.Shape(), err)
	}
	var plan Steps
	for size, fits := range map[int]bool{5: false, 6: true, 20: true} {
		m := noise(size, size, 3, 1)
		r := random.NewRand(1, 2, 3)
		p.Draw(&plan, size, size, &r)
		if err := p.Fits(m, &plan); (err == nil) != fits {
			t.Errorf("%d pixels: %v", size, err)
		}
	}
	if _, err := Compile([]Op{RandomCrop{H: 8, W: 8}}, 5, 5, 3, formats.Uint8, pixel.NHWC); err == nil {
		t.Error("images that are all too small are taken")
	}
}
