//go:build cgo

package hdf5

import (
	"os/exec"
	"sync"
	"testing"
)

// A process that begins while a file is written inherits none of the library's open files: their
// locks would outlive them, so that the library could not open the file again.
func TestChildrenHoldNoLocks(t *testing.T) {
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					if err := exec.Command("sleep", "0.05").Run(); err != nil {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	defer wg.Wait()
	defer close(stop)
	samples := bigSamples(3)
	for range 20 {
		write(t, bigMeta, samples...)
	}
}
