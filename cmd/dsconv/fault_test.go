package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// outputsOf lists a DST of every format that is built in.
func outputsOf() []string {
	names := []string{"out.tar", "out-%02d.tfrecord"}
	if cgo {
		names = append(names, "out.lmdb", "out.h5")
	}
	return names
}

// samples writes a folder of n images and returns its path.
func samples(t *testing.T, n, size string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "images")
	c := &console{out: io.Discard, err: os.Stderr}
	if code := run(context.Background(), []string{"dsconv", "synth", dir, "--n", n, "--size", size, "--quiet"}, c); code != exitDone {
		t.Fatalf("synth: exit code %d", code)
	}
	return dir
}

// reportAside writes the report elsewhere: it is not part of the dataset.
func reportAside(t *testing.T) string {
	t.Helper()
	return "--report=" + filepath.Join(t.TempDir(), "report.csv")
}

// packTo runs dsconv pack in this process and returns its exit code and its output.
func packTo(t *testing.T, src, dst string, flags ...string) (code int, said string) {
	t.Helper()
	var out bytes.Buffer
	args := append([]string{"dsconv", "pack", src, dst, reportAside(t)}, flags...)
	code = run(context.Background(), args, &console{out: &out, err: &out})
	return code, out.String()
}

// A pack that is interrupted or killed leaves only DST.partial, and the same command resumes and ends
// with the same bytes.
func TestInterruptedAndKilled(t *testing.T) {
	count := "400"
	if testing.Short() {
		count = "150"
	}
	src := samples(t, count, "200x150")
	flags := []string{"--encode", "png", "-j", "1"}
	for _, name := range outputsOf() {
		whole := t.TempDir()
		if code, said := packTo(t, src, filepath.Join(whole, name), flags...); code != exitDone {
			t.Fatal(said)
		}
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
			t.Run(name+" "+signal.String(), func(t *testing.T) {
				dir, said := stopped(t, signal, src, name, flags)
				if signal == syscall.SIGINT && !strings.Contains(said, "interrupted") {
					t.Errorf("said %q", said)
				}
				if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != name+".partial" {
					t.Fatalf("left: %v %v", entries, err)
				}
				if code, said := packTo(t, src, filepath.Join(dir, name), flags...); code != exitDone {
					t.Fatalf("resuming: exit code %d: %s", code, said)
				}
				formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, whole))
			})
		}
	}
}

// stopped packs to a new folder and sends the signal when DST.partial has data. If the pack was
// published before the signal came, it packs again elsewhere.
func stopped(t *testing.T, signal syscall.Signal, src, name string, flags []string) (dir, said string) {
	t.Helper()
	for range 100 {
		dir = t.TempDir()
		p := startPack(t, src, filepath.Join(dir, name), flags)
		p.await(t, func() bool {
			files, _ := filepath.Glob(filepath.Join(dir, name+".partial/data/*"))
			return len(files) > 0
		})
		_ = p.cmd.Process.Signal(signal) // it may be done
		p.wait()
		if left, err := os.ReadDir(dir); err == nil && len(left) == 1 && left[0].IsDir() && p.code != exitDone {
			return dir, p.said.String()
		}
	}
	t.Fatal("each of 100 packs was done before it could be stopped")
	return "", ""
}
