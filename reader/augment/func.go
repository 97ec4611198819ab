package augment

import (
	"errors"
	"fmt"
	"strings"
	"unsafe"

	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// Func is an op of one's own that changes the pixels of an image:
//
//	darken := augment.Func{Name: "darken", Apply: func(m *pixel.Image, r *random.Rand) error {
//		for i, v := range m.Pix {
//			m.Pix[i] = v / 2
//		}
//		return nil
//	}}
//	config.Transforms = append(augment.Train(224), darken)
//
// It is done exactly where it stands among the ops, to the pixels that those before it leave; size and
// channels stay. Put it before Normalize: only RandomErasing may follow that. It is told nothing of the
// sample but the random draws. Masks and boxes stay as they are. For what moves pixels write an [Op], whose steps masks
// and boxes follow.
//
// Its text is func:NAME, in JSON and reports too. Parse refuses that text: a function cannot be read from
// one.
type Func struct {
	// Name is for texts: letters, digits, '-', '_' and '.'.
	Name string
	// Apply changes the image m: m.H rows of m.W pixels of m.C channels, of uint8, or of uint16
	// (little-endian) in images of 16 bits. m and its memory are valid until Apply returns. Apply may
	// overwrite the bytes of Pix, or set Pix to other memory of the same length, which is copied at once. It must
	// change no other field, draw from r alone, and be safe for concurrent use. An error makes the image a bad
	// sample, and so does a panic.
	Apply func(m *pixel.Image, r *random.Rand) error
}

const funcPrefix = "func"

func (o Func) String() string { return funcPrefix + ":" + o.Name }

// Check implements Op.
func (o Func) Check(int) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."
	if o.Name == "" || strings.Trim(o.Name, allowed) != "" {
		return fmt.Errorf("func: name %q: wanted letters, digits, '-', '_' and '.'", o.Name)
	}
	if o.Apply == nil {
		return fmt.Errorf("%s: Apply is nil", o)
	}
	return nil
}

// AddTo implements Op.
func (o Func) AddTo(s *Steps, r *random.Rand) { s.Do(o, r) }

// errFunc is for the text of a Func.
var errFunc = errors.New("it is a function in Go (augment.Func), which cannot be read from a text: add it to the ops in Go")

// call is a step that calls a function.
type call struct {
	by   Func
	rand random.Rand
}

// Do adds a function that changes pixels. It draws from a generator of its own, keyed by one draw from
// r.
func (s *Steps) Do(f Func, r *random.Rand) {
	if err := f.Check(s.c); err != nil {
		s.Fail(err)
		return
	}
	n := len(s.path.Steps)
	s.failed(s.path.Add(geometry.Step{Kind: geometry.Still, H: s.path.H, W: s.path.W}))
	s.fill(n, pass{kind: custom, call: call{by: f, rand: random.Rand{State: r.Uint64()}}})
}

// do carries out a step that calls a function, on pixels that may be written to.
func (r *Runner) do(c *call, in geometry.View, own bool) (*pixel.Image, error) {
	m := in.Image
	if !own || in.Window.W != m.W || in.Window.H != m.H || in.Flips != (flips{}) {
		m = r.mover.Copy(in)
	}
	r.shown, r.rand = *m, c.rand
	defer func() { r.shown = pixel.Image{} }()
	if err := called(&c.by, func() error { return c.by.Apply(&r.shown, &r.rand) }); err != nil {
		return nil, err
	}
	got := &r.shown
	if got.H != m.H || got.W != m.W || got.C != m.C || got.DType != m.DType || len(got.Pix) != len(m.Pix) {
		return nil, fmt.Errorf("%s: it made %dx%dx%d pixels of %s (%d bytes) of %dx%dx%d of %s; size, channels and type must stay",
			c.by, got.W, got.H, got.C, got.DType, len(got.Pix), m.W, m.H, m.C, m.DType)
	}
	if unsafe.SliceData(got.Pix) != unsafe.SliceData(m.Pix) { // memory that is the function's own
		copy(m.Pix, got.Pix)
	}
	return m, nil
}

// called is the error of f, a part of o, which a panic becomes too.
func called(o Op, f func() error) error {
	err := guard.Do(f)
	if err == nil {
		return nil
	}
	if p := new(guard.PanicError); errors.As(err, &p) {
		return fmt.Errorf("%s: panic: %v (%s)", text(o), p.Value, p.Stack)
	}
	return fmt.Errorf("%s: %w", text(o), err)
}
