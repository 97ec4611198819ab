package augment

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/preprocess"
)

// Resize resamples the whole image, as torchvision.transforms.Resize on a PIL image does:
// either its shorter side to Shorter, the other in proportion and rounded down, or exactly
// to H by W. Nothing is done to an image that has that size.
type Resize struct {
	Shorter int
	H, W    int
	// Filter is bilinear with antialias if empty.
	Filter preprocess.Filter
}

func (o Resize) String() string {
	if o.Shorter != 0 {
		return fmt.Sprintf("resize:%d", o.Shorter) + formatFilter(o.Filter)
	}
	return fmt.Sprintf("resize:%dx%d", o.W, o.H) + formatFilter(o.Filter)
}

// Check implements Op.
func (o Resize) Check(int) error {
	if err := checkFilter("resize", o.Filter); err != nil {
		return err
	}
	if o.Shorter == 0 {
		return checkSize("resize", o.H, o.W)
	}
	if o.H != 0 || o.W != 0 {
		return errors.New("resize: either the shorter side or width and height, not both")
	}
	return checkSize("resize", o.Shorter, o.Shorter)
}

// Plan implements Op.
func (o Resize) Plan(p *Plan, _ *Rand) {
	h, w := o.H, o.W
	switch {
	case o.Shorter == 0:
	case p.W <= p.H:
		h, w = o.Shorter*p.H/p.W, o.Shorter
	default:
		h, w = o.Shorter, o.Shorter*p.W/p.H
	}
	p.Resize(h, w, bilinearIfEmpty(o.Filter))
}

func (o Resize) fixesSize() bool { return o.Shorter == 0 }

var filters = []preprocess.Filter{
	preprocess.Nearest, preprocess.Box, preprocess.Bilinear,
	preprocess.Hamming, preprocess.Bicubic, preprocess.Lanczos,
}

func bilinearIfEmpty(f preprocess.Filter) preprocess.Filter {
	if f == "" {
		return preprocess.Bilinear
	}
	return f
}

func checkFilter(name string, f preprocess.Filter) error {
	if f != "" && !slices.Contains(filters, f) {
		return fmt.Errorf("%s: unknown filter %q; known: %v", name, f, filters)
	}
	return nil
}

func formatFilter(f preprocess.Filter) string {
	if bilinearIfEmpty(f) == preprocess.Bilinear {
		return ""
	}
	return ":" + string(f)
}
