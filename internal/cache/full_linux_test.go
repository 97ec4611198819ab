package cache

import (
	"bytes"
	"errors"
	"syscall"
	"testing"
)

// smallDisk is a file system in memory of so many bytes.
func smallDisk(t *testing.T, size string) string {
	t.Helper()
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size="+size); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return disk
}

// A file system that is smaller than the limit is filled, and that is no error.
func TestFullDisk(t *testing.T) {
	const size = 100_000
	conf := Config{Dir: smallDisk(t, "20m"), Name: "a", Limit: 1 << 30, Samples: 1000}
	a, b := openCache(t, conf), openCache(t, conf)
	fill := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, size) }
	held := 0
	for i := range conf.Samples {
		c := [2]*Cache{a, b}[i%2]
		data, ok, err := c.Put(i, size, func(dst []byte) error { copy(dst, fill(i)); return nil })
		if err != nil {
			t.Fatal(err)
		}
		if !ok {
			continue
		}
		held++
		if !bytes.Equal(data, fill(i)) {
			t.Errorf("sample %d differs", i)
		}
	}
	if most := 20 << 20 / size; held < most-3 || held > most {
		t.Errorf("%d samples fit", held)
	}
	s := a.Stats()
	if s.Full != NoSpace || s.Samples != held || s.Refused+b.Stats().Refused != int64(conf.Samples-held) {
		t.Errorf("%+v, %v", s, s.Full)
	}
	left, err := roomIn(conf.Dir)
	if err != nil || left.space > 2*size || left.fits() != left.space || left.memory <= 0 {
		t.Errorf("%+v %v", left, err)
	}
	conf.Name = "b"
	conf.Samples = 1 << 20
	if _, err := Open(conf); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("no room for the index: %v", err)
	}
}
