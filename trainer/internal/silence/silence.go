//go:build cgo && (linux || darwin)

// Package silence keeps go-xla from printing while the program starts: its init complains if there is no $HOME. Packages are
// initialized in the order of their import paths, those that they import first, so this one comes before github.com/gomlx.
package silence

import (
	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

func init() { klog.SetLogger(logr.Discard()) }

// End lets the program log again.
func End() { klog.ClearLogger() }
