package synth

import (
	"math"
	"reflect"
	"testing"
)

func TestClassesAreDistinct(t *testing.T) {
	seen := map[string]int{}
	for c := range maxClasses {
		name := className(c)
		if before, ok := seen[name]; ok {
			t.Fatalf("classes %d and %d are both %s", before, c, name)
		}
		seen[name] = c
	}
}

// grid calls f with points over the square that contains the shapes.
func grid(f func(x, y float32)) {
	for y := float32(-2); y < 2; y += 0.031 {
		for x := float32(-2); x < 2; x += 0.029 {
			f(x, y)
		}
	}
}

func TestShapes(t *testing.T) {
	for _, s := range shapes {
		inside, all := 0, 0
		grid(func(x, y float32) {
			all++
			d := s.distance(x, y)
			if d < 0 {
				inside++
				if hypot(x, y) > shapeReach {
					t.Fatalf("%s reaches (%v, %v)", s.name, x, y)
				}
			}
			if abs(d-s.distance(-x, y)) > 1e-4 {
				t.Fatalf("%s is not its mirror image at (%v, %v)", s.name, x, y)
			}
		})
		if area := 16 * float64(inside) / float64(all); area < 1.7 || area > 3.1 {
			t.Errorf("%s has area %.2f, far from a disc's", s.name, area)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, p := range patterns {
		bright, all := 0, 0
		grid(func(x, y float32) {
			x, y = 3*x, 3*y
			w := p.wave(x, y)
			all++
			if w > 0 {
				bright++
			}
			if w < -2 || w > 2 || math.IsNaN(float64(w)) {
				t.Fatalf("%s is %v at (%v, %v)", p.name, w, x, y)
			}
			if abs(w-p.wave(-x, y)) > 1e-4 {
				t.Fatalf("%s is not its mirror image at (%v, %v)", p.name, x, y)
			}
		})
		if share := float64(bright) / float64(all); share < 0.45 || share > 0.55 {
			t.Errorf("%s is bright on %.2f of the plane, want a half", p.name, share)
		}
	}
}

// TestSceneIgnoresClass: all random values are the same whatever the class.
func TestSceneIgnoresClass(t *testing.T) {
	one, all := Options{Classes: 1, Width: 50, Height: 40, Seed: 3}, Options{Classes: maxClasses, Width: 50, Height: 40, Seed: 3}
	for i := range 20 {
		a, b := newScene(one, i), newScene(all, i)
		a.shape, a.pattern, b.shape, b.pattern = nil, nil, nil, nil
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("image %d: the class changes more than the object's shape and pattern", i)
		}
	}
}
