package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is the user that has no rights to root's files.
const nobody = 65534

// A file without read permission is skipped and reported, and the others are packed. Root may read
// everything, so a test that runs as root runs the pack as nobody.
func TestUnreadableFile(t *testing.T) {
	src := samples(t, "10", "32x32")
	open, err := os.MkdirTemp("", "dsconv-unreadable")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(open)
	program := filepath.Join(open, "dsconv")
	self, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range []error{
		os.CopyFS(filepath.Join(open, "images"), os.DirFS(src)), os.WriteFile(program, self, 0o755), os.Chmod(open, 0o777),
		os.Chmod(filepath.Join(open, "images/banded_disc/000000.jpg"), 0), os.Chmod(filepath.Join(open, "images/banded_heart"), 0),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(program, "pack", "images", "out.tar")
	cmd.Dir = open
	cmd.Env = append(os.Environ(), asProgram+"=1")
	if os.Getuid() == 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
	out, _ := cmd.CombinedOutput()
	said := string(out)
	if cmd.ProcessState.ExitCode() != exitSkipped || !strings.Contains(said, "skipped banded_disc/000000.jpg: read banded_disc/000000.jpg: permission denied") ||
		!strings.Contains(said, "skipped banded_heart: permission denied") || !strings.Contains(said, "= written 8 + skipped 2 + failed 0") {
		t.Errorf("exit code %d: %s", cmd.ProcessState.ExitCode(), said)
	}
}
