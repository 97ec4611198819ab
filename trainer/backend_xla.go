//go:build cgo && (linux || darwin)

package trainer

import (
	"github.com/go-logr/logr"
	"github.com/gomlx/compute"
	"github.com/gomlx/go-xla/compute/xla"
	"k8s.io/klog/v2"

	"github.com/dsconv/dsconv/trainer/internal/silence"
)

func init() { silence.End() } // go-xla is initialized

// openXLA starts XLA on the plugin at an absolute path, options after a comma.
func openXLA(config string) (compute.Backend, error) {
	xla.EnableAutoInstall(false)
	// What go-xla logs is also in its errors, or concerns go-xla alone.
	klog.SetLogger(logr.Discard())
	return xla.New(config)
}
