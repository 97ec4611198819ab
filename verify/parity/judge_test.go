package parity_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/verify/parity"
)

// fakePython is a shell script in the place of Python. It notes the processes that it was.
func fakePython(t *testing.T, body string) (path string, pids func() []int) {
	t.Helper()
	dir := t.TempDir()
	path, notes := filepath.Join(dir, "python3"), filepath.Join(dir, "pids")
	text := fmt.Sprintf("#!/bin/sh\necho $$ >> '%s'\n%s\n", notes, body)
	if err := os.WriteFile(path, []byte(text), 0o777); err != nil {
		t.Fatal(err)
	}
	return path, func() []int {
		b, err := os.ReadFile(notes)
		if err != nil {
			return nil
		}
		var list []int
		for _, line := range strings.Fields(string(b)) {
			pid, err := strconv.Atoi(line)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, pid)
		}
		return list
	}
}

// greeting makes a shell script say that it is a Python with Pillow 13.
var greeting = func() string {
	text := `{"python": "3.12.0", "pillow": "13.0.0", "jpeg": "libjpeg-turbo 3.2.0"}`
	return fmt.Sprintf(`printf '\000\000\000\%03o%s'`, len(text), text)
}()

func samples(n int) *memory {
	m := &memory{meta: formats.Meta{Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}}
	for i := range n {
		v := formats.Value{Data: make([]byte, 12*10*3), Encoding: formats.Raw, DType: formats.Uint8, Shape: []int{12, 10, 3}}
		m.samples = append(m.samples, formats.Sample{Key: fmt.Sprintf("k%02d", i), Values: []formats.Value{v}})
	}
	return m
}

// A Python that does not do its work ends the run with what it printed, and is waited for.
func TestPythonFails(t *testing.T) {
	for _, c := range []struct {
		name, body, want string
		patience         time.Duration
	}{
		{name: "dies", body: "echo boom >&2; exit 3", want: "boom"},
		{name: "dies after the greeting", body: greeting + "; echo late >&2", want: "late"},
		{name: "garbage", body: "echo hello, this is no answer; exec sleep 3600", want: `not an answer: it begins with "hell"`},
		{name: "no JSON", body: `printf '\000\000\000\004abcd'; exec sleep 100`, want: "not an answer: invalid character"},
		{name: "cut", body: `printf '\000\000\000\144{'`, want: "in the middle of an answer"},
		{name: "no version", body: `printf '\000\000\000\002{}'; exec sleep 100`, want: "does not tell its Pillow's version"},
		{name: "no Pillow", body: `printf '\000\000\000\024{"error": "no such"}'`, want: "has no Pillow (no such)"},
		{name: "hangs", body: "echo thinking >&2; exec sleep 3600", want: "did not answer within PATIENCE; it printed:\nthinking", patience: 300 * time.Millisecond},
		{name: "hangs later", body: greeting + "; exec sleep 3600", want: "k0", patience: 300 * time.Millisecond},
		{name: "other answers", body: greeting + `; printf '\000\000\000\016{"results":[]}'; cat >/dev/null`, want: "0 results where"},
	} {
		t.Run(c.name, func(t *testing.T) {
			patience := c.patience
			for {
				path, pids := fakePython(t, c.body)
				_, err := parity.Run(context.Background(), samples(9), samples(9), parity.Options{Python: path, Patience: patience, Workers: 3})
				want := strings.ReplaceAll(c.want, "PATIENCE", patience.String())
				if err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), path) {
					ended(t, pids())
					return
				}
				// A busy machine may need longer than that to start a shell.
				if patience *= 4; patience == 0 || patience > 5*time.Minute {
					t.Fatalf("%v, want %s and %s", err, want, path)
				}
			}
		})
	}
	_, err := parity.Run(context.Background(), samples(1), samples(1), parity.Options{Python: filepath.Join(t.TempDir(), "none")})
	if !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func ended(t *testing.T, pids []int) {
	t.Helper()
	if len(pids) == 0 {
		t.Error("nothing was started")
	}
	for _, pid := range pids {
		if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
			t.Errorf("process %d is still there: %v", pid, err)
		}
	}
}

func TestCancelled(t *testing.T) {
	for _, body := range []string{"exec sleep 3600", greeting + "; exec sleep 3600"} {
		path, pids := fakePython(t, body)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for len(pids()) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		// One that waits for Python does not come back before the tests' own time is over.
		_, err := parity.Run(ctx, samples(9), samples(9), parity.Options{Python: path, Workers: 2})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ended(t, pids())
	}
}
