package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// On a full disk an attempt says so and leaves nothing; with room the same plan goes on.
func TestShardsOnAFullDisk(t *testing.T) {
	src := samples(t, "60", "200x150")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=200k"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	defer func() { must(t, syscall.Unmount(disk, syscall.MNT_DETACH)) }()
	dst, file := filepath.Join(disk, "x-%d.tar"), filepath.Join(t.TempDir(), "plan.json")
	flags := []string{"--shards=3", "--encode=png"}
	succeeds(t, append([]string{"shards", "plan", src, dst, "-o", file, reportAside(t)}, flags...)...)
	for range 2 {
		code, said := dsconvSays("shards", "pack", file, "1")
		if code != exitFailed || !strings.Contains(strings.ToLower(said), "no space left") || !strings.Contains(said, "shard 1 of "+dst) {
			t.Fatalf("exit code %d: %s", code, said)
		}
		if entries, err := os.ReadDir(dst + ".shards"); err != nil || len(entries) != 1 {
			t.Fatalf("left on the disk: %v %v", entries, err)
		}
	}
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	for _, n := range []string{"0", "1", "2"} {
		succeeds(t, "shards", "pack", file, n)
	}
	fill := filepath.Join(disk, "fill")
	must(t, fillUp(fill))
	if code, said := dsconvSays("shards", "commit", file); code != exitFailed || !strings.Contains(strings.ToLower(said), "no space left") {
		t.Fatalf("commit: exit code %d: %s", code, said)
	}
	if n, err := state(dst); n != -1 || err != nil {
		t.Fatalf("something was published: %d, %v", n, err)
	}
	must(t, os.Remove(fill))
	succeeds(t, "shards", "commit", file)
	whole := t.TempDir()
	if code, said := packTo(t, src, filepath.Join(whole, "x-%d.tar"), flags...); code != exitDone {
		t.Fatal(said)
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, disk), formatcheck.Tree(t, whole))
}

// fillUp writes a file until the disk is full.
func fillUp(file string) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	for block := make([]byte, 1<<12); ; {
		if _, err := f.Write(block); err != nil {
			return nil // the disk is full
		}
	}
}
