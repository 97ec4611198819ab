package convert

import (
	"fmt"
	"slices"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// keysOnly is a source of which only the keys are asked for.
type keysOnly struct {
	formats.Dataset
	keys []string
}

func (k keysOnly) Len() int { return len(k.keys) }

func (k keysOnly) Info(i int) (formats.Info, error) { return formats.Info{Key: k.keys[i]}, nil }

// A random sample has the size that was asked for, and depends on keys and seed only.
func TestRandomSample(t *testing.T) {
	var src keysOnly
	for i := range 5000 {
		src.keys = append(src.keys, fmt.Sprintf("c%d/%05d", i/500, i))
	}
	choose := func(src keysOnly, n int, seed uint64) (list []string) {
		odd := func(in *formats.Info) bool { return in.Key[len(in.Key)-1]%2 == 1 }
		r, err := newRandomSample(src, n, seed, odd)
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range src.keys {
			if odd(&formats.Info{Key: key}) && r.has(key) {
				list = append(list, key)
			}
		}
		return list
	}
	for n, want := range map[int]int{1: 1, 2: 2, 100: 100, 2499: 2499, 2500: 2500, 2501: 2500, 100_000: 2500} {
		if got := choose(src, n, 7); len(got) != want {
			t.Errorf("a sample of %d has %d", n, len(got))
		}
	}
	thousand := choose(src, 1000, 0)
	if slices.Equal(thousand, choose(src, 1000, 1)) {
		t.Error("two seeds choose the same")
	}
	classes := map[string]int{}
	for _, key := range thousand {
		classes[key[:2]]++
	}
	if len(classes) != 10 {
		t.Errorf("it is from the classes %v only", classes)
	}
	// Smaller samples are part of larger ones, and the order of the source does not matter.
	for _, key := range choose(src, 10, 0) {
		if !slices.Contains(thousand, key) {
			t.Errorf("%s is in a sample of 10 and in none of 1000", key)
		}
	}
	slices.Reverse(src.keys)
	reversed := choose(src, 1000, 0)
	slices.Reverse(reversed)
	if !slices.Equal(reversed, thousand) {
		t.Error("the order of the source decides")
	}
}
