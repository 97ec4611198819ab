package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func TestFullDisk(t *testing.T) {
	src := samples(t, "60", "200x150")
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			disk := t.TempDir()
			if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=512k"); err != nil {
				t.Skipf("no right to mount a small disk: %v", err)
			}
			defer func() {
				if err := syscall.Unmount(disk, syscall.MNT_DETACH); err != nil {
					t.Error(err)
				}
			}()
			code, said := packTo(t, src, filepath.Join(disk, name), "--encode=png")
			if code != exitFailed || !strings.Contains(strings.ToLower(said), "no space left") || !strings.Contains(said, "repeat the command to resume") {
				t.Fatalf("exit code %d: %s", code, said)
			}
			if entries, err := os.ReadDir(disk); err != nil || len(entries) != 1 || entries[0].Name() != name+".partial" {
				t.Errorf("left on the disk: %v %v", entries, err)
			}
			if err := syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
				t.Fatal(err)
			}
			if code, said := packTo(t, src, filepath.Join(disk, name), "--encode=png"); code != exitDone {
				t.Fatalf("with room: exit code %d: %s", code, said)
			}
			whole := t.TempDir()
			if code, said := packTo(t, src, filepath.Join(whole, name), "--encode=png"); code != exitDone {
				t.Fatal(said)
			}
			formatcheck.SameTrees(t, formatcheck.Tree(t, disk), formatcheck.Tree(t, whole))
		})
	}
}

func TestUnpackOntoFullDisk(t *testing.T) {
	dataset, whole := labelled(t, "60", "200x150")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	defer func() { must(t, syscall.Unmount(disk, syscall.MNT_DETACH)) }()
	dir := filepath.Join(disk, "back")
	code, said := dsconvSays("unpack", dataset, dir)
	if code != exitFailed || !strings.Contains(strings.ToLower(said), "no space left") || !strings.Contains(said, "repeat the command to resume") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	refusesUnfinished(t, dir, whole)
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=64m"))
	succeeds(t, "unpack", dataset, dir)
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), whole)
}

// Images that are copied and cannot fit are refused before anything is written; so are those of an edit.
func TestNoRoomIsSaidBefore(t *testing.T) {
	src := samples(t, "60", "200x150")
	disk := t.TempDir()
	if err := syscall.Mount("tmpfs", disk, "tmpfs", 0, "size=256k"); err != nil {
		t.Skipf("no right to mount a small disk: %v", err)
	}
	defer func() { must(t, syscall.Unmount(disk, syscall.MNT_DETACH)) }()
	dst := filepath.Join(disk, "x.tfrecord")
	if code, said := packTo(t, src, dst); code != exitFailed || !strings.Contains(said, "its images need") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	if entries, err := os.ReadDir(disk); err != nil || len(entries) != 0 {
		t.Errorf("left on the disk: %v %v", entries, err)
	}
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=2m"))
	succeeds(t, "pack", src, dst, reportAside(t))
	must(t, syscall.Mount("tmpfs", disk, "tmpfs", syscall.MS_REMOUNT, "size=1300k"))
	if code, said := dsconvSays("rm", dst, "--glob", "**/*0"); code != exitFailed || !strings.Contains(said, "its images need") {
		t.Fatalf("exit code %d: %s", code, said)
	}
}
