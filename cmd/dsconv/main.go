// Command dsconv turns folders of images into datasets that training reads fast, reads
// them back, trains on them and measures the gain.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/dsconv/dsconv/internal/parallel"
)

func main() {
	parallel.RaiseForC()
	ctx, stop := signal.NotifyContext(context.Background(), stopSignals()...)
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	code := run(ctx, os.Args, &console{in: os.Stdin, out: os.Stdout, err: os.Stderr})
	stop()
	os.Exit(code)
}

// stopSignals are the signals that ask a command to stop. One that was ignored when dsconv was
// started stays so: a shell script does that to SIGINT for what it runs in the background, so that
// Ctrl-C stops the script alone.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM}, signal.Ignored)
}
