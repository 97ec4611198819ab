package formatcheck

import (
	"os"
	"runtime"
	"testing"
)

// OwnCache runs tests with a user's cache of their own, in which datasets of other programs get an index. It
// takes the place of the *testing.M.
type OwnCache struct{ *testing.M }

// Run runs the tests and returns the exit code.
func (c OwnCache) Run() int {
	dir, err := os.MkdirTemp("", "dsconv-cache")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	name := "XDG_CACHE_HOME"
	if runtime.GOOS == "darwin" {
		name = "HOME"
	}
	if err := os.Setenv(name, dir); err != nil {
		panic(err)
	}
	return c.M.Run()
}
