package augment

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/image/resample"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/random"
)

// RandomCrop keeps H by W pixels at a random place: torchvision.transforms.RandomCrop. An image
// that is smaller cannot be transformed, unless it is padded.
type RandomCrop struct {
	H, W int
	// Padding is put around the image first: left, top, right, bottom.
	Padding [4]int
	// Grow also pads images that are still smaller, by what is missing on both sides:
	// torchvision's pad_if_needed. As in its v2, there is one padding for both reasons.
	Grow bool
	// Mode says what borders are filled with; PadConstant if empty.
	Mode PadMode
	// Fill is for PadConstant, in the image's own units: one value for all channels or one for
	// each; nil is 0.
	Fill []float64
}

func (o RandomCrop) String() string {
	return "crop:" + formatSize(o.H, o.W) + formatOption("pad", o.Padding, [4]int{}, formatPadding) + formatFlag("grow", o.Grow) +
		formatFlag(string(o.Mode), o.Mode != "" && o.Mode != PadConstant) + formatValues("fill", o.Fill)
}

// Check implements Op.
func (o RandomCrop) Check(channels int) error {
	for _, n := range o.Padding {
		if n < 0 || n > maxSide {
			return fmt.Errorf("crop: padding %d: wanted 0 to %d", n, maxSide)
		}
	}
	if err := checkPadMode("crop", o.Mode); err != nil {
		return err
	}
	if err := resample.CheckFill(o.Fill, channels); err != nil {
		return fmt.Errorf("crop: %w", err)
	}
	return checkSize("crop", o.H, o.W)
}

// AddTo implements Op.
func (o RandomCrop) AddTo(s *Steps, r *random.Rand) {
	pad := o.Padding
	if o.Grow {
		x, y := max(0, o.W-s.path.W-pad[0]-pad[2]), max(0, o.H-s.path.H-pad[1]-pad[3])
		pad = [4]int{pad[0] + x, pad[1] + y, pad[2] + x, pad[3] + y}
	}
	if pad != [4]int{} {
		s.Pad(pad[0], pad[1], pad[2], pad[3], o.Mode, o.Fill)
	}
	if s.path.H < o.H || s.path.W < o.W {
		s.Fail(fmt.Errorf("it is %dx%d, smaller than the crop of %dx%d: pad it (crop:SIZE:grow) or resize it first", s.path.W, s.path.H, o.W, o.H))
		return
	}
	y := r.IntN(s.path.H - o.H + 1)
	s.Crop(pixel.Rect{X: r.IntN(s.path.W - o.W + 1), Y: y, W: o.W, H: o.H})
}

func (RandomCrop) sizing() sizing { return fixesSize }

// formatPadding is N, LEFTRIGHT/TOPBOTTOM or LEFT/TOP/RIGHT/BOTTOM.
func formatPadding(p [4]int) string {
	switch {
	case p[0] != p[2] || p[1] != p[3]:
		return fmt.Sprintf("%d/%d/%d/%d", p[0], p[1], p[2], p[3])
	case p[0] != p[1]:
		return fmt.Sprintf("%d/%d", p[0], p[1])
	}
	return fmt.Sprint(p[0])
}
