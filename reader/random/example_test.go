package random_test

import (
	"fmt"

	"github.com/dsconv/dsconv/reader/random"
)

func ExampleRand() {
	r := random.NewRand(1, 0, 7) // seed, epoch, sample
	fmt.Println(r.Float64() < 0.5, r.IntN(6), r.Uniform(-30, 30) < 0)
	again := random.NewRand(1, 0, 7)
	fmt.Println(again.Float64() < 0.5, again.IntN(6), again.Uniform(-30, 30) < 0)
	// Output:
	// true 3 false
	// true 3 false
}
