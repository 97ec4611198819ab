//go:build linux && cgo

package guard

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dsconv/dsconv/internal/testing/forward"
)

// TestForwardingHandler: a fault in other memory reaches Go's handler, the first one, through a
// handler that was installed after ours and calls ours, whether Renew puts ours in front again or not.
func TestForwardingHandler(t *testing.T) {
	if os.Getenv("DSCONV_FORWARD") == "" {
		c := exec.Command(os.Args[0], "-test.run=^TestForwardingHandler$", "-test.v")
		c.Env = append(os.Environ(), "DSCONV_FORWARD=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	path, b := mapped(t, 2)
	if err := forward.Install(); err != nil {
		t.Fatal(err)
	}
	for _, first := range []string{"the other", "ours"} {
		before := forward.Calls()
		for range 3 { // Go must not drop out of the chain
			faultElsewhere(t)
		}
		if n := forward.Calls() - before; n != 3 {
			t.Errorf("%s is first: the other one was called %d times for 3 faults", first, n)
		}
		if err := os.Truncate(path, 0); err != nil {
			t.Fatal(err)
		}
		if err := Read(b, func() error { return use(b) }); !errors.As(err, new(*ReadError)) {
			t.Errorf("%s is first: %v", first, err)
		}
		Renew()
	}
}

// faultElsewhere reads memory of a shortened file that Map did not map.
func faultElsewhere(t *testing.T) {
	t.Helper()
	f := opened(t, 1)
	b, err := unix.Mmap(int(f.Fd()), 0, pageSize, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Munmap(b) }()
	if err := os.Truncate(f.Name(), 0); err != nil {
		t.Fatal(err)
	}
	if err := Do(func() error { return use(b) }); !errors.As(err, new(*PanicError)) {
		t.Errorf("a fault of memory of others: %v", err)
	}
}
