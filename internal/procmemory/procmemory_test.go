//go:build linux

package procmemory

import (
	"syscall"
	"testing"
)

// Memory that is written to is the process's own.
func TestOwn(t *testing.T) {
	before, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	const size = 64 << 20
	// Of its own mapping: the heap may have such an array that was freed, and is still the process's.
	used, err := syscall.Mmap(-1, 0, size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(used) })
	for i := 0; i < size; i += 4096 {
		used[i] = 1
	}
	after, err := Own()
	if err != nil {
		t.Fatal(err)
	}
	for name, grown := range map[string]int64{
		"PSS": after.PSS - before.PSS, "PSSAnonymous": after.PSSAnonymous - before.PSSAnonymous,
		"PrivateDirty": after.PrivateDirty - before.PrivateDirty, "Anonymous": after.Anonymous - before.Anonymous,
	} {
		if grown < size*9/10 {
			t.Errorf("%s grew by %d bytes, want about %d", name, grown, size)
		}
	}
	if after.PSS < after.PSSAnonymous+after.PSSFile || after.PageTables == 0 {
		t.Errorf("%+v", after)
	}
}
