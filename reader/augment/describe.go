package augment

import (
	"github.com/dsconv/dsconv/internal/image/geometry"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Step is one thing that the ops do to an image, with what was drawn for it. Its numbers are of
// the image as the steps before it leave it.
type Step struct {
	// Name is crop, flip, vflip, resize, pad, transpose, affine, blur, sharpen, func, erase or a
	// [Change]: brightness, contrast, saturation, hue, gray, invert, posterize, solarize,
	// autocontrast, equalize.
	Name string `json:"step"`
	// Region is left, top, width, height: of crop and erase.
	Region []int `json:"part,omitempty"`
	// Size is height and width of the result, or, of blur, of the kernel.
	Size   []int        `json:"size,omitempty"`
	Filter pixel.Filter `json:"filter,omitempty"`
	// Border is left and top of pad.
	Border []int   `json:"border,omitempty"`
	Mode   PadMode `json:"mode,omitempty"`
	// Values are what fills, or what erases; none is 0, or, of erase, noise.
	Values []float64 `json:"values,omitempty"`
	Matrix []float64 `json:"matrix,omitempty"` // of affine, see Steps.Affine
	Func   string    `json:"func,omitempty"`   // the name of a Func
	Amount float64   `json:"amount,omitempty"` // the factor of a change, the sigma of a blur
}

// List tells what s will do, in order: for those who want to do the same by other means.
func (s *Steps) List() []Step {
	var all []Step
	h, w := s.path.FromH, s.path.FromW
	for i := range s.path.Steps {
		st := &s.path.Steps[i]
		all = appendView(all, h, w, st.Window, st.Flips)
		if p := &s.passes[i]; p.kind == moving {
			all = append(all, describeMove(st))
		} else {
			all = append(all, s.describe(p)...)
		}
		h, w = st.H, st.W
	}
	all = appendView(all, h, w, s.path.Window, s.path.Flips)
	for _, e := range s.erasures {
		all = append(all, Step{Name: "erase", Region: partOf(e.part), Values: e.values})
	}
	return all
}

// appendView adds the crop and the flips of a window of an image of h by w pixels.
func appendView(all []Step, h, w int, window pixel.Rect, f flips) []Step {
	if (window != pixel.Rect{W: w, H: h}) {
		all = append(all, Step{Name: "crop", Region: partOf(window)})
	}
	if f.H {
		all = append(all, Step{Name: "flip"})
	}
	if f.V {
		all = append(all, Step{Name: "vflip"})
	}
	return all
}

func describeMove(st *geometry.Step) Step {
	size := []int{st.H, st.W}
	switch st.Kind {
	case geometry.Resize:
		return Step{Name: "resize", Size: size, Filter: st.Filter}
	case geometry.Pad:
		b := &st.Border
		return Step{Name: "pad", Size: size, Border: []int{b.Left, b.Top}, Mode: PadMode(b.Mode), Values: b.Fill}
	case geometry.Transpose:
		return Step{Name: "transpose", Size: size}
	}
	a := &st.Affine
	return Step{Name: "affine", Size: size, Filter: a.Filter, Values: a.Fill, Matrix: a.Matrix[:]}
}

func (s *Steps) describe(p *pass) []Step {
	switch p.kind {
	case blur:
		return []Step{{Name: "blur", Size: []int{p.color.h, p.color.w}, Amount: p.color.amount}}
	case custom:
		return []Step{{Name: funcPrefix, Func: p.call.by.Name}}
	case sharpen:
		return []Step{{Name: "sharpen", Amount: p.color.amount}}
	}
	var list []Step
	for _, c := range s.changes[p.color.from:p.color.to] {
		list = append(list, Step{Name: string(changes[c.Change]), Amount: c.Factor})
	}
	return list
}

func partOf(r pixel.Rect) []int { return []int{r.X, r.Y, r.W, r.H} }
