// Command dsconv turns folders of images into datasets that training reads fast, reads
// them back, trains on them and measures the gain.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/dsconv/dsconv/internal/parallel"
)

func main() {
	parallel.RoomForC()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args, &console{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}
