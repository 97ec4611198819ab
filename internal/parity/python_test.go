package parity_test

import (
	"cmp"
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
	"github.com/dsconv/dsconv/internal/parity"
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

// first makes a shell script answer that sample 0 was compared, once it was sent.
const first = `head -c 60000 >/dev/null; echo '{"sample": 0}'`

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
		samples          int // 9 if it is 0
		timeout          time.Duration
	}{
		{name: "dies", body: "echo boom >&2; exit 3", want: "exit status 3; it printed:\nboom"},
		{name: "dies after an answer", body: first + "; echo late >&2", want: "late"},
		{name: "no answer", body: "echo hello, this is no answer; exec sleep 3600", want: `instead of a result: "hello, this`},
		{name: "no JSON", body: `echo '{abcd'; exec sleep 100`, want: "instead of a result: \"{abcd"},
		{name: "other JSON", body: `echo '{}'; exec sleep 100`, want: "instead of a result: \"{}"},
		{name: "cut", body: `printf '{"sample":'`, want: "it ended early: it gave no result"},
		{name: "a sample that it was not given", body: `echo '{"sample": 77}'; exec sleep 100`, want: "instead of a result"},
		{name: "no Pillow", body: `echo '{"error": "no such"}'`, want: "no Pillow (no such)"},
		{name: "hangs", body: "echo thinking >&2; exec sleep 3600", want: "no answer within TIMEOUT; it printed:\nthinking", timeout: 300 * time.Millisecond},
		{name: "hangs later", body: first + "; exec sleep 3600", want: "key \"k0", timeout: 300 * time.Millisecond},
		{name: "hangs at the end", samples: 1, body: first + "; cat >/dev/null; exec sleep 3600", want: "no result within TIMEOUT", timeout: 300 * time.Millisecond},
		{name: "no result", samples: 1, body: first + "; cat >/dev/null", want: "it gave no result"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src, workers, timeout := samples(cmp.Or(c.samples, 9)), 3, c.timeout
			if strings.Contains(c.body, first) {
				workers = 1 // sample 0 is the first that is sent
			}
			for {
				path, pids := fakePython(t, c.body)
				_, err := parity.Run(context.Background(), src, src, parity.Options{Python: path, Workers: workers}.WithTimeout(timeout))
				want := strings.ReplaceAll(c.want, "TIMEOUT", timeout.String())
				if err != nil && strings.Contains(err.Error(), want) && strings.Contains(err.Error(), path) {
					ended(t, pids())
					return
				}
				// A busy machine may need longer than that to start a shell.
				if timeout *= 4; timeout == 0 || timeout > time.Minute {
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
	for _, body := range []string{"exec sleep 3600", first + "; exec sleep 3600"} {
		path, pids := fakePython(t, body)
		ctx, cancel := context.WithCancel(context.Background())
		go func() {
			for len(pids()) == 0 {
				time.Sleep(10 * time.Millisecond)
			}
			cancel()
		}()
		// One that waits for Python does not come back before the tests' own time is over.
		_, err := parity.Run(ctx, samples(9), samples(9), parity.Options{Python: path, Workers: 1})
		if !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		ended(t, pids())
	}
}
