//go:build deadcode

// Command publicapi is never run: it tells scripts/deadcode which functions are there for users of
// the Go packages alone, so that dsconv's programs don't call them. Each names where it is documented.
package main

import "github.com/dsconv/dsconv/reader"

func main() {
	_, _ = reader.NewMixture(nil, reader.Config{}) // docs/loader.md
}
