package verdict_test

import (
	"fmt"

	"github.com/dsconv/dsconv/bench/verdict"
)

// A loader of two workers decodes large images; the loop could take twice as many.
func Example() {
	costs := &verdict.Costs{
		Samples: 50000, Batch: 64, Workers: 2, Cores: 4, Loop: true, Step: 1000, Epoch: 104,
		Parts: []verdict.Part{
			{Name: "read", Kind: verdict.Read, Wall: 200, CPU: 40},
			{Name: "decode", Kind: verdict.Decode, Wall: 3600, CPU: 3600},
			{Name: "collate", Kind: verdict.Collate, Wall: 200, CPU: 200},
		},
	}
	tiled := verdict.Candidate{
		Command: "dsconv pack images images.lmdb --encode jpeg-tiled", Lossless: true, PackSeconds: 60,
		Costs: &verdict.Costs{Samples: 50000, Workers: 2, Cores: 4, Parts: []verdict.Part{
			{Name: "decode", Kind: verdict.Decode, Wall: 1800, CPU: 1800},
		}},
	}

	v := verdict.Judge(costs)
	advice := verdict.Advise(costs, v, []verdict.Candidate{tiled})
	fmt.Printf("%s, %.0f %% of the epoch: %s\n", v.Cause, 100*v.Gain, advice.Text)
	// Output:
	// decode, 50 % of the epoch: dsconv pack images images.lmdb --encode jpeg-tiled (lossless): 104 s -> 52.0 s, packing pays after 2 epochs
}
