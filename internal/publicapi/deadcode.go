//go:build deadcode

// Command publicapi is never run: it tells scripts/deadcode which functions are there for users of
// the Go packages alone, so that dsconv's programs don't call them. Each names where it is documented.
package main

import (
	"context"

	"github.com/dsconv/dsconv/reader"
)

func main() {
	var l reader.Loader
	if run, err := l.Start(context.Background(), 0); err == nil { // reader's package comment
		_, _ = run.Next(context.Background())
		run.Stop()
	}
	new(reader.Batch).Keep() // reader's package comment
	new(reader.Batch).Release()
	new(reader.Batch).Clone()
	_, _ = reader.NewMixture(nil, reader.Config{}) // docs/loader.md
}
