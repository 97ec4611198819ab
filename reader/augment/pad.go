package augment

import (
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/internal/image/geometry"
)

// PadMode says what borders are filled with, as torchvision's padding_mode does.
type PadMode string

// The modes of padding.
const (
	PadConstant  PadMode = PadMode(geometry.PadConstant)  // a value
	PadEdge      PadMode = PadMode(geometry.PadEdge)      // the pixel at the edge
	PadReflect   PadMode = PadMode(geometry.PadReflect)   // the image mirrored at its outermost pixels
	PadSymmetric PadMode = PadMode(geometry.PadSymmetric) // the image mirrored at its edges
)

var padModes = []PadMode{PadConstant, PadEdge, PadReflect, PadSymmetric}

// checkPadMode takes an empty mode for PadConstant.
func checkPadMode(name string, m PadMode) error {
	if m != "" && !slices.Contains(padModes, m) {
		return fmt.Errorf("%s: unknown padding mode %q; known: %v", name, m, padModes)
	}
	return nil
}
