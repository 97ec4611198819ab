package geometry

import "math"

// Scaled is the longer side of an image whose sides are short and long, scaled so that short becomes n; or the
// other way round. It is rounded down, as torchvision's Resize does, but at least 1.
func Scaled(n, short, long int) int { return max(1, n*long/short) }

// Middle is where the middle part pixels begin in whole, rounded half to even as torchvision's CenterCrop does.
func Middle(whole, part int) int {
	return int(math.RoundToEven(float64(whole-part) / 2))
}
