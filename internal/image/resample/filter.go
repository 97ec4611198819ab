package resample

import (
	"math"

	"github.com/dsconv/dsconv/preprocess/pixel"
)

// kernel is a filter's function and half the width of its support in source pixels.
type kernel struct {
	support float64
	at      func(x float64) float64
}

// kernels are those of Pillow's Resample.c.
var kernels = map[pixel.Filter]kernel{
	pixel.Box:      {0.5, boxAt},
	pixel.Bilinear: {1, bilinearAt},
	pixel.Hamming:  {1, hammingAt},
	pixel.Bicubic:  {2, bicubicAt},
	pixel.Lanczos:  {3, lanczosAt},
}

func boxAt(x float64) float64 {
	if x > -0.5 && x <= 0.5 {
		return 1
	}
	return 0
}

func bilinearAt(x float64) float64 { return max(1-math.Abs(x), 0) }

func hammingAt(x float64) float64 {
	switch x = math.Abs(x); {
	case x == 0:
		return 1
	case x >= 1:
		return 0
	}
	x *= math.Pi
	// Pillow's constants are single precision.
	return math.Sin(x) / x * (float64(float32(0.54)) + float64(float32(0.46))*math.Cos(x))
}

func bicubicAt(x float64) float64 {
	const a = -0.5
	switch x = math.Abs(x); {
	case x < 1:
		return ((a+2)*x-(a+3))*x*x + 1
	case x < 2:
		return (((x-5)*x+8)*x - 4) * a
	}
	return 0
}

func lanczosAt(x float64) float64 {
	if -3 <= x && x < 3 {
		return sinc(x) * sinc(x/3)
	}
	return 0
}

func sinc(x float64) float64 {
	if x == 0 {
		return 1
	}
	x *= math.Pi
	return math.Sin(x) / x
}
