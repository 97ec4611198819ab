//go:build linux

// Command failingdisk mounts the folder FOLDER at MOUNTPOINT: see failingdisk.Serve.
package main

import (
	"fmt"
	"os"

	"github.com/dsconv/dsconv/internal/testing/failingdisk"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: failingdisk FOLDER MOUNTPOINT")
		os.Exit(2)
	}
	if err := failingdisk.Serve(os.Args[1], os.Args[2], os.Stdin, os.Stdout); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
