//go:build !linux || !cgo

package fakegpu

import "testing"

// Load skips the test: this build cannot load the libraries.
func Load(t testing.TB, _ string) string {
	t.Skip("the fake GPU needs Linux and cgo")
	return ""
}

// Set does nothing.
func Set(string) {}

// Live returns nothing.
func Live() (string, int) { return "", 0 }

// Count returns 0.
func Count(string) int { return 0 }

// Read reads nothing.
func Read([]byte, uintptr) bool { return false }
