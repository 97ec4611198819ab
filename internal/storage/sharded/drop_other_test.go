//go:build !linux

package sharded

import "testing"

func dropFile(t *testing.T, _ string) { t.Skip("nothing tells here what is in memory") }
