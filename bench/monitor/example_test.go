package monitor_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/dsconv/dsconv/bench/monitor"
)

func Example() {
	ctx := context.Background()
	m, err := monitor.Start(ctx, monitor.Options{Interval: 50 * time.Millisecond})
	if err != nil {
		log.Fatal(err)
	}
	work()
	record := m.Stop()
	for _, s := range record.Samples {
		fmt.Printf("%.1f s: %.1f cores, %.1f of them ours\n", s.At, s.Cores, s.OwnCores)
	}
}

func ExampleRead() {
	ctx := context.Background()
	before, err := monitor.Read(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	work()
	after, err := monitor.Read(ctx, 0)
	if err != nil {
		log.Fatal(err)
	}
	waited := after.Sub(before)
	fmt.Printf("%.1f s of CPU time, %.1f s without a core\n", waited.CPU, waited.Queue)
}

// work stands for what is measured.
func work() {}
