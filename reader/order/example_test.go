package order_test

import (
	"fmt"

	"github.com/dsconv/dsconv/reader/order"
)

// An epoch of ten shuffled samples.
func ExampleNew() {
	plan, err := order.New(order.Spec{Kind: order.Full}, order.Data{Samples: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	epoch := plan.Epoch(42, 0)
	for position := range epoch.Len() {
		fmt.Print(" ", epoch.At(position))
	}
	// Output: 8 1 4 9 6 2 5 7 3 0
}
