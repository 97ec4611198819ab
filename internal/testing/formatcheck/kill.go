package formatcheck

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

const killChild = "DSCONV_TEST_KILL_CHILD"

// Pack is a dataset that is written in many steps, by this process or one that is killed.
type Pack struct {
	Format formats.WritableFormat
	Meta   formats.Meta
	Sample func(i int) *formats.Sample
	Count  int // of samples
	Every  int // number of samples between checkpoints
	// Prepare is called with each Writer before it is used; it may be nil.
	Prepare func(w formats.Writer) error
}

// Child runs the pack and exits if the test binary was started as the process to be killed.
// TestMain calls it first.
func (p Pack) Child() {
	path := os.Getenv(killChild)
	if path == "" {
		return
	}
	if err := p.Run(path, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Run creates or resumes the dataset at path and prints each sample's number to say.
func (p Pack) Run(path string, say io.Writer) error {
	from := 0
	w, _, note, err := p.Format.Resume(path, formats.CreateOptions{})
	switch {
	case errors.Is(err, formats.ErrPublished):
		return nil
	case errors.Is(err, formats.ErrNoPartial):
		w, err = p.Format.Create(path, p.Meta, formats.CreateOptions{})
		if errors.Is(err, formats.ErrExists) {
			return nil // the previous child was killed after it had finished
		}
	case err == nil && note != nil:
		from, err = strconv.Atoi(string(note))
	}
	if err == nil && p.Prepare != nil {
		err = p.Prepare(w)
	}
	if err == nil {
		err = p.Write(w, from, p.Count, func(i int) { fmt.Fprintln(say, i) })
	}
	if err != nil {
		return err
	}
	fmt.Fprintln(say, "commit")
	return w.Commit()
}

// Write adds the samples from..to-1 with their checkpoints; before, if not nil, is called
// before each sample.
func (p Pack) Write(w formats.Writer, from, to int, before func(i int)) error {
	for i := from; i < to; i++ {
		if before != nil {
			before(i)
		}
		if err := w.Write(p.Sample(i)); err != nil {
			return err
		}
		if i%p.Every == p.Every-1 {
			if err := w.Checkpoint(fmt.Append(nil, i+1)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Kill repeatedly kills a child that writes the named dataset, by SIGKILL, and compares the result
// with the bytes of an uninterrupted pack.
func (p Pack) Kill(t *testing.T, name string) {
	want := t.TempDir()
	if err := p.Run(filepath.Join(want, name), io.Discard); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 4 {
		dir := t.TempDir()
		kills := 0
		for !runUntil(t, filepath.Join(dir, name), 1+r.IntN(p.Count/2)) {
			if kills++; kills > 100 {
				t.Fatal("it never ends")
			}
		}
		t.Logf("round %d: killed %d times", round, kills)
		SameTrees(t, Tree(t, dir), Tree(t, want))
	}
}

// runUntil runs a child and kills it after it printed n lines; done reports that it ended before.
func runUntil(t *testing.T, path string, n int) (done bool) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), killChild+"="+path)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if n--; n == 0 {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // it was killed
			return false
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return true
}
