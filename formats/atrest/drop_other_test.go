//go:build !linux

package atrest

import "testing"

func dropFile(t *testing.T, _ string) { t.Skip("nothing tells here what is in memory") }
