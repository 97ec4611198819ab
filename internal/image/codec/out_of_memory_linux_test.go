//go:build cgo

package codec

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/jpeg"
	"github.com/dsconv/dsconv/internal/testing/pixeltest"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// cWork is work on intact images that allocates memory in C. Its Go memory is allocated before.
type cWork struct {
	jpegs  map[string][]byte
	webps  map[string][]byte
	pixels *pixel.Image
	got    pixel.Image
	out    []byte
}

func newCWork(t *testing.T) *cWork {
	n := &cWork{pixels: pixeltest.TestImage(600, 450, 3, formats.Uint8), jpegs: map[string][]byte{}, webps: map[string][]byte{}}
	for name, o := range map[string]EncodeOptions{"progressive": {Quality: 95, Progressive: true}, "tiled": {Quality: 95, Interval: 1}} {
		e := NewEncoder()
		data, err := e.AppendJPEG(nil, n.pixels, o)
		if e.Close(); err != nil {
			t.Fatal(err)
		}
		n.jpegs[name] = data
	}
	for _, name := range []string{"lossy", "lossless", "alpha"} {
		n.webps[name] = pixeltest.ReadValue(t, pixeltest.Testdata("sound", name+".webp")).Data
	}
	return n
}

// do does all of the work with new handles and returns the errors.
func (n *cWork) do() map[string]error {
	errs := map[string]error{}
	decode := func(name string, data []byte, o DecodeOptions) {
		d := NewDecoder()
		defer d.Close()
		errs[name] = d.Decode(&n.got, &formats.Value{Data: data}, o)
	}
	for name, data := range n.jpegs {
		decode(name, data, DecodeOptions{})
		decode(name+" region", data, DecodeOptions{Region: pixel.Rect{X: 350, Y: 250, W: 150, H: 100}})
		tr := new(jpeg.Transcoder)
		n.out, errs[name+" transcoded"] = tr.Append(n.out[:0], data, 8, false)
		tr.Close()
	}
	for name, data := range n.webps {
		decode(name, data, DecodeOptions{})
	}
	for _, progressive := range []bool{false, true} {
		e := NewEncoder()
		n.out, errs["encode "+strconv.FormatBool(progressive)] = e.AppendJPEG(n.out[:0], n.pixels, EncodeOptions{Quality: 95, Progressive: progressive})
		e.Close()
	}
	return errs
}

// addressSpace is how much the process uses.
func addressSpace(t *testing.T) uint64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.ParseUint(strings.Fields(string(b))[0], 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return pages * uint64(os.Getpagesize())
}

// withLimit calls f with a limit of the address space.
func withLimit(t *testing.T, limit uint64, f func()) {
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &was); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &syscall.Rlimit{Cur: limit, Max: was.Max}); err != nil {
		t.Fatal(err)
	}
	f()
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &was); err != nil {
		t.Fatal(err)
	}
}

// Whichever allocation fails in C, intact images are processed or the error is ErrMemory.
func TestOutOfMemoryIsNotDamage(t *testing.T) {
	const child = "DSCONV_MEMORY_CHILD"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestNoMemoryIsNoDamage$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1", "MALLOC_ARENA_MAX=1", "MALLOC_TRIM_THRESHOLD_=65536", "MALLOC_MMAP_THRESHOLD_=65536")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	runtime.LockOSThread()
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // Go's memory is allocated already
	n := newCWork(t)
	room := make([][]byte, 8)
	for i := range room {
		room[i] = make([]byte, 1<<20)
	}
	n.do()
	failed := map[string]bool{}
	const most, step = 6 << 20, 256 << 10
	for extra := uint64(0); extra < most; extra += step {
		var errs map[string]error
		withLimit(t, addressSpace(t)+extra, func() { errs = n.do() })
		for name, err := range errs {
			if not := new(jpeg.NotTiledError); err != nil && (!errors.Is(err, pixel.ErrMemory) || !pixel.EndsRun(err) || errors.Is(err, pixel.ErrCorrupt) || errors.As(err, &not)) {
				t.Errorf("%s with %d KiB: %v", name, extra>>10, err)
			}
			failed[name] = failed[name] || err != nil
		}
	}
	runtime.KeepAlive(room)
	for _, name := range []string{"progressive", "progressive region", "progressive transcoded", "tiled transcoded", "encode true"} {
		if !failed[name] {
			t.Errorf("%s took no memory", name)
		}
	}
	for name, err := range n.do() {
		if err != nil {
			t.Errorf("%s with memory again: %v", name, err)
		}
	}
}
