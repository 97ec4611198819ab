// Command dsconv packs folders of images into datasets that are fast to train on, edits and verifies
// them, trains on them and measures the speed.
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
	c := newConsole(os.Stdin, os.Stdout, os.Stderr)
	context.AfterFunc(ctx, func() {
		stop() // a second signal ends the process at once, so the terminal must be in order
		c.status.close()
	})
	code := run(ctx, os.Args, c)
	stop()
	os.Exit(code)
}

// stopSignals returns the signals that stop a command. A signal that was ignored when dsconv started
// stays ignored: shell scripts start background commands with SIGINT ignored, so that Ctrl-C stops
// only the script, and nohup ignores SIGHUP. A terminal that closes sends SIGHUP.
func stopSignals() []os.Signal {
	return slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP}, signal.Ignored)
}
