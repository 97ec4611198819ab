//go:build cgo

package lmdb

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

	"go.uber.org/goleak"

	"github.com/dsconv/dsconv/formats"
)

const killChild = "DSCONV_TEST_KILL_CHILD"

// TestMain lets the test binary be the process that is killed.
func TestMain(m *testing.M) {
	if path := os.Getenv(killChild); path != "" {
		if err := pack(path, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// pack creates or continues the dataset at path and says each sample.
func pack(path string, say io.Writer) error {
	from := 0
	w, _, note, err := Format{}.Resume(path, formats.CreateOptions{})
	switch {
	case errors.Is(err, formats.ErrPublished):
		return nil
	case errors.Is(err, formats.ErrNoPartial):
		w, err = Format{}.Create(path, bigMeta, formats.CreateOptions{})
	case err == nil && note != nil:
		from, err = strconv.Atoi(string(note))
	}
	if err != nil {
		return err
	}
	if err := shrink(w.(*writer)); err != nil {
		return err
	}
	for i := from; i < bigCount; i++ {
		if err := w.Write(bigSample(i)); err != nil {
			return err
		}
		fmt.Fprintln(say, i)
		if i%bigEvery == bigEvery-1 {
			if err := w.Checkpoint(fmt.Append(nil, i+1)); err != nil {
				return err
			}
		}
	}
	fmt.Fprintln(say, "commit")
	return w.Commit()
}

// TestSIGKILL kills a writer again and again and wants the bytes of an undisturbed one.
func TestSIGKILL(t *testing.T) {
	want := filepath.Join(t.TempDir(), "x.lmdb")
	if err := pack(want, io.Discard); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for round := range 4 {
		path := filepath.Join(t.TempDir(), "x.lmdb")
		kills := 0
		for !packUntil(t, path, 1+r.IntN(bigCount/2)) {
			if kills++; kills > 100 {
				t.Fatal("it never ends")
			}
		}
		t.Logf("round %d: killed %d times", round, kills)
		sameTree(t, path, want)
	}
}

// packUntil runs a child that packs and kills it after it wrote n lines; done says that it
// ended before.
func packUntil(t *testing.T, path string, n int) (done bool) {
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
