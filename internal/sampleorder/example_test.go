package sampleorder_test

import (
	"fmt"

	"github.com/dsconv/dsconv/internal/sampleorder"
	"github.com/dsconv/dsconv/reader/order"
)

// Two ranks go through an epoch of ten shuffled samples.
func Example() {
	plan, err := sampleorder.New(order.Spec{Kind: order.Full}, sampleorder.Data{Samples: 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	epoch := plan.Epoch(42, 0)
	for rank := range 2 {
		share := sampleorder.RankBatches{Len: epoch.Len(), Batch: 3, Rank: rank, World: 2, Tail: order.Uneven}
		for k := range share.Batches() {
			first, size := share.Span(k)
			fmt.Printf("rank %d:", rank)
			for position := first; position < first+size; position++ {
				fmt.Print(" ", epoch.At(position))
			}
			fmt.Println(", resume from", share.End(k))
		}
	}
	// Output:
	// rank 0: 8 1 4, resume from 6
	// rank 0: 5 7, resume from 10
	// rank 1: 9 6 2, resume from 6
	// rank 1: 3 0, resume from 10
}
