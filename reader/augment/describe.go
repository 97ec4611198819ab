package augment

import (
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
	h, w := s.fromH, s.fromW
	for i := range s.steps {
		st := &s.steps[i]
		all = appendView(all, h, w, st.window, st.flips)
		all = append(all, s.describe(st)...)
		h, w = st.h, st.w
	}
	all = appendView(all, h, w, s.window, s.flips)
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
	if f.h {
		all = append(all, Step{Name: "flip"})
	}
	if f.v {
		all = append(all, Step{Name: "vflip"})
	}
	return all
}

func (s *Steps) describe(st *step) []Step {
	size := []int{st.h, st.w}
	switch st.kind {
	case resizing:
		return []Step{{Name: "resize", Size: size, Filter: st.filter}}
	case pad:
		b := &st.border
		return []Step{{Name: "pad", Size: size, Border: []int{b.left, b.top}, Mode: b.mode, Values: b.fill}}
	case transpose:
		return []Step{{Name: "transpose", Size: size}}
	case affine:
		a := &st.affine
		return []Step{{Name: "affine", Size: size, Filter: a.Filter, Values: a.Fill, Matrix: a.Matrix[:]}}
	case blur:
		return []Step{{Name: "blur", Size: []int{st.color.h, st.color.w}, Amount: st.color.amount}}
	case custom:
		return []Step{{Name: funcPrefix, Func: st.call.by.Name}}
	case sharpen:
		return []Step{{Name: "sharpen", Amount: st.color.amount}}
	}
	var list []Step
	for _, c := range s.changes[st.color.from:st.color.to] {
		list = append(list, Step{Name: string(changes[c.Change]), Amount: c.Factor})
	}
	return list
}

func partOf(r pixel.Rect) []int { return []int{r.X, r.Y, r.W, r.H} }
