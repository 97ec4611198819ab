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

// A file or folder without read permission ends the pack, and nothing is published: the dataset would be shorter than the
// folder. --exclude leaves it out. Root may read everything, so a test that runs as root runs the pack as nobody.
func TestUnreadableFile(t *testing.T) {
	src := samples(t, "10", "32x32")
	open, err := os.MkdirTemp("", "dsconv-unreadable")
	must(t, err)
	defer os.RemoveAll(open)
	program := filepath.Join(open, "dsconv")
	self, err := os.ReadFile(os.Args[0])
	must(t, err)
	for _, err := range []error{
		os.CopyFS(filepath.Join(open, "images"), os.DirFS(src)), os.WriteFile(program, self, 0o755), os.Chmod(open, 0o777),
		os.Chmod(filepath.Join(open, "images/banded_disc/000000.jpg"), 0), os.Chmod(filepath.Join(open, "images/banded_heart"), 0),
	} {
		must(t, err)
	}
	pack := func(flags ...string) (code int, said string) {
		cmd := exec.Command(program, append([]string{"pack", "images", "out.tar"}, flags...)...)
		cmd.Dir = open
		cmd.Env = append(os.Environ(), asProgram+"=1")
		if os.Getuid() == 0 {
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		out, _ := cmd.CombinedOutput()
		return cmd.ProcessState.ExitCode(), string(out)
	}
	const folder, file = "--exclude=banded_heart/", "--exclude=banded_disc/000000.jpg"
	for _, k := range []struct {
		flags []string
		code  int
		said  string
	}{
		{nil, exitFailed, "images/banded_heart cannot be read: permission denied"},
		{[]string{folder}, exitFailed, "banded_disc/000000.jpg: permission denied"},
		{[]string{folder, file, "--discard"}, exitDone, "= written 8 + skipped 0 + failed 0"},
	} {
		code, said := pack(k.flags...)
		if code != k.code || !strings.Contains(said, k.said) || (code == exitDone) != isThere(filepath.Join(open, "out.tar")) {
			t.Errorf("%q: exit code %d: %s", k.flags, code, said)
		}
	}
}
