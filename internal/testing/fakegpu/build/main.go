// The command build compiles the fake GPU's libraries into a folder: go run ./internal/testing/fakegpu/build DIR.
package main

import (
	"fmt"
	"os"

	"github.com/dsconv/dsconv/internal/testing/fakegpu/libraries"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: build DIR")
		os.Exit(2)
	}
	if err := libraries.Compile(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
