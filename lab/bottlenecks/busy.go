package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
)

// busyVariable, if it is set, makes this program one of the busy ones.
const busyVariable = "DSCONV_BOTTLENECKS_BUSY"

// keepBusy runs n programs that compute until the function it returns is called, or this process ends.
func keepBusy(n int) (stop func(), err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var all []*exec.Cmd
	var inputs []io.Closer
	stop = func() {
		for k, c := range all {
			inputs[k].Close()
			_ = c.Wait()
		}
	}
	for range n {
		c := exec.Command(self)
		c.Env = append(os.Environ(), busyVariable+"=1")
		in, err := c.StdinPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			stop()
			return nil, errors.Join(errors.New("keep the cores busy"), err)
		}
		all, inputs = append(all, c), append(inputs, in)
	}
	return stop, nil
}

// spin computes until in ends.
func spin(in io.Reader) {
	var ended atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, in)
		ended.Store(true)
	}()
	for !ended.Load() {
	}
}
