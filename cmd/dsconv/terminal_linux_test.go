package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/convert"
)

// TestBarInTerminal: other output erases the bar first, a terminal that becomes narrower or wider shows no
// rest of it, and nothing is left of it at the end.
func TestBarInTerminal(t *testing.T) {
	t.Setenv("TERM", "xterm")
	t.Setenv("CI", "")
	t.Setenv("NO_COLOR", "")
	side, user := pseudoTerminal(t, 80)
	s := newScreen(80)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(s, user)
	}()
	shows := func(want string) {
		t.Helper()
		hung := time.After(patience)
		for s.text() != want {
			select {
			case <-time.After(time.Millisecond):
			case <-hung:
				t.Fatalf("the screen is\n%s\nwant\n%s", s.text(), want)
			}
		}
	}
	c := newConsole(side, side, side)
	r := &runProgress{c: c, words: imageWords}
	show := func(done int) {
		r.show(convert.Progress{Path: "out.lmdb", Done: done, Total: 1000, BytesIn: 1e6, Elapsed: time.Duration(done) * time.Second})
	}
	shows("")
	show(100)
	shows(" 10 %  100 of 1000 images, 1 MB, 1.0 images/s, 15m0s left: out.lmdb")
	c.logf("warning: one")
	shows("warning: one")
	show(200)
	shows("warning: one\n 20 %  200 of 1000 images, 1 MB, 1.0 images/s, 13m20s left: out.lmdb")
	for _, width := range []int{40, 23, 80} {
		setWidth(t, user, width)
		s.resize(width)
		show(500)
		line := strings.TrimRight(r.line(width-1), " ")
		shows("warning: one\n" + line)
	}
	setWidth(t, user, 0) // it does not tell any more: lines, which come later
	show(600)
	setWidth(t, user, 80)
	c.printf("half a ") // the bar waits for the rest of the line
	show(700)
	shows("warning: one\nhalf a")
	c.printf("line\n")
	show(800)
	shows("warning: one\nhalf a line\n" + strings.TrimRight(r.line(79), " "))
	c.printError(errors.New("no space left"))
	shows("warning: one\nhalf a line\ndsconv: no space left")
	show(900)
	r.end()
	shows("warning: one\nhalf a line\ndsconv: no space left")
	c.status.close()
	show(950)
	c.printf("end\n")
	shows("warning: one\nhalf a line\ndsconv: no space left\nend")
	s.check(t)
	must(t, side.Close())
	<-ended
}

// TestNoBar: where a bar is of no use there are no control codes.
func TestNoBar(t *testing.T) {
	src, dir := samples(t, "40", "16x16"), t.TempDir()
	for _, c := range []struct {
		name  string
		width int
		env   []string
	}{
		{"width0", 0, nil},
		{"dumb", 80, []string{"TERM=dumb"}},
		{"noterm", 80, []string{"TERM="}},
		{"nocolor", 80, []string{"NO_COLOR=1"}},
		{"ci", 80, []string{"CI=true"}},
	} {
		s := inTerminal(t, c.width, dir, c.env, os.Args[0], "pack", src, c.name+".tar")
		if code := s.wait(t); code != exitDone || s.sequences > 0 {
			t.Errorf("%s: exit code %d, %d control codes: %s", c.name, code, s.sequences, s.text())
		}
	}
}

var changing = regexp.MustCompile(`\d+(\.\d+)?(e-?\d+)?( [kMG]?B)?`)

// TestCommandScreens: what is on the terminal after each command, at any width: no bar, and no rest of one.
func TestCommandScreens(t *testing.T) {
	src := samples(t, "300", "32x32")
	bad := filepath.Join(filepath.Dir(src), "bad")
	copyTree(t, bad, src)
	must(t, os.Mkdir(filepath.Join(bad, "zzz"), 0o755))
	must(t, os.WriteFile(filepath.Join(bad, "zzz", "bad.jpg"), []byte("no image"), 0o644))
	other := filepath.Join(filepath.Dir(src), "other")
	copyTree(t, other, src)
	must(t, os.Remove(imagesOf(t, other)[7]))
	for _, width := range []int{40, 80, 200, 0} {
		dir := t.TempDir()
		must(t, os.Symlink(other, filepath.Join(dir, "other")))
		must(t, os.Symlink(src, filepath.Join(dir, "images")))
		must(t, os.Symlink(bad, filepath.Join(dir, "bad")))
		var b strings.Builder
		for _, c := range []struct {
			code int
			line string
		}{
			{exitDone, "pack images out.tar --order key"},
			{exitDone, "verify out.tar"},
			{exitDone, "unpack out.tar back"},
			{exitDone, "diff out.tar back"},
			{exitFailed, "diff out.tar other"},
			{exitDone, "add out.tar images --hash"},
			{exitSkipped, "add out.tar bad"},
			{exitFailed, "pack bad fails.tar --order key --on-error fail"},
			{exitDone, "verify out.tar --quiet"},
			{exitDone, "unpack out.tar quiet --quiet"},
		} {
			s := inTerminal(t, width, dir, nil, append([]string{os.Args[0]}, strings.Fields(c.line)...)...)
			code := s.wait(t)
			if code != c.code || s.most > strings.Count(s.text(), "\n")+2 {
				t.Errorf("%d columns: %s: exit code %d, up to %d rows: %s", width, c.line, code, s.most, s.text())
			}
			s.check(t)
			b.WriteString("$ dsconv " + c.line + "\n" + changing.ReplaceAllString(s.logical(), "N"))
		}
		sameScreen(t, "commands.txt", b.String())
	}
}

// TestInterruptInTerminal: Ctrl-C leaves no bar and no ^C.
func TestInterruptInTerminal(t *testing.T) {
	for _, width := range []int{40, 80, 200} {
		s := inTerminal(t, width, t.TempDir(), nil, os.Args[0], "synth", "images", "--n", "300000", "--size", "16x16")
		s.await(t, " %  ")
		s.types(t, "\x03")
		if code := s.wait(t); code != exitFailed || s.text() != "dsconv: interrupted" {
			t.Errorf("%d columns: exit code %d, the screen is\n%s", width, code, s.text())
		}
		s.check(t)
	}
}

// TestCompletionInTerminal: the Tab key of real shells.
func TestCompletionInTerminal(t *testing.T) {
	for _, c := range []struct {
		shell, load string
		args        []string
	}{
		{"bash", "source <(dsconv completion bash)", []string{"--norc", "--noprofile", "-i"}},
		{"zsh", "autoload -Uz compinit; compinit -u -D; source <(dsconv completion zsh)", []string{"-f", "-i"}},
	} {
		t.Run(c.shell, func(t *testing.T) {
			program, err := exec.LookPath(c.shell)
			if err != nil {
				t.Skipf("there is no %s", c.shell)
			}
			dir, env := shellFolder(t)
			s := inTerminal(t, 200, dir, append(env, "TERM=dumb", "PS1=ready> "), append([]string{program}, c.args...)...)
			s.await(t, "ready> ")
			s.types(t, c.load+"; echo loa''ded\n")
			s.await(t, "loaded")
			for _, one := range [][2]string{
				{"dsconv veri\t", "dsconv verify "},
				{"--qui\t", "dsconv verify --qui"}, // quick or quiet
				{"ck \t", "dsconv verify --quick "},
				{"my\t", `dsconv verify --quick my\ data.tar`},
				{"--rep\t", `my\ data.tar --repair`},
				{"na\t", `--repair naïve.tar`},
				{"\x15dsconv pack --labels=my\t", `dsconv pack --labels=my\ data.tar`},
			} {
				s.types(t, one[0])
				s.await(t, one[1])
			}
			s.types(t, "\x15exit\n")
			s.wait(t)
		})
	}
}
