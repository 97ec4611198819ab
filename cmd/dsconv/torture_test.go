package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// packing is a way to pack that is disturbed: a DST and flags that give many checkpoints.
type packing struct {
	dst   string
	flags []string
	plain bool // the plainest of its format
}

func (v packing) name() string { return strings.Join(append([]string{v.dst}, v.flags...), " ") }

func packings() []packing {
	const small = "--checkpoint=20KB"
	list := []packing{
		{"out.tar", []string{small}, true},
		{"out.tar.zst", []string{small}, false},
		{"out-%02d.tar", []string{small, "--shard-count=5", "--resize=shorter:48", "--encode=jpeg:90"}, false},
		{"out.tfrecord", []string{small}, true},
		{"out-%02d.tfrecord", []string{small, "--shard-count=3"}, false},
	}
	if cgo {
		list = append(list,
			packing{"out.lmdb", []string{small}, true},
			packing{"out.lmdb", []string{small, "--encode=png"}, false},
			packing{"out.h5", []string{small}, true},
			packing{"out.h5", []string{small, "--resize=cover:32x32", "--encode=raw"}, false},
		)
	}
	return list
}

// quick reports whether the tests must end within seconds.
func quick() bool { return os.Getenv("DSCONV_KILLS") == "" }

// kills is how often each packing is killed: DSCONV_KILLS, or enough that a quick run has 10
// kills a format, which has two packings or more.
func kills(t *testing.T) int {
	n := 5
	if s := os.Getenv("DSCONV_KILLS"); s != "" {
		var err error
		if n, err = strconv.Atoi(s); err != nil {
			t.Fatal(err)
		}
	}
	if testing.Short() {
		n = min(n, 2)
	}
	return n
}

// Each packing is killed at random moments, also while it resumes after a kill, and ends with the bytes
// of an undisturbed run. DST is never incomplete.
func TestKilledAnywhere(t *testing.T) {
	src := samples(t, "60", "64x48")
	for i, v := range packings() {
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			tortured(t, src, v, rand.New(rand.NewPCG(1, uint64(i))), func(string) {})
		})
	}
}

// With --force DST is at each moment the old dataset, the new one or missing.
func TestKilledWhileReplacing(t *testing.T) {
	src := samples(t, "60", "64x48")
	for i, v := range packings() {
		if quick() && v.plain {
			continue
		}
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			v.flags = append(v.flags, "--force")
			tortured(t, src, v, rand.New(rand.NewPCG(2, uint64(i))), func(dst string) {
				packOld(t, src, dst, v.flags)
			})
		})
	}
}

// tortured kills packs of v until there were enough kills and the last pack is done.
// before prepares a new DST.
func tortured(t *testing.T, src string, v packing, r *rand.Rand, before func(dst string)) {
	whole := t.TempDir()
	start := time.Now()
	if p := startPack(t, src, filepath.Join(whole, v.dst), v.flags); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	took := time.Since(start)
	want := formatcheck.Tree(t, whole)
	dir := t.TempDir()
	dst := filepath.Join(dir, v.dst)
	before(dst)
	w := watch(dst)
	killed, resumed := 0, 0
	for enough := kills(t); killed < enough; {
		p := startPack(t, src, dst, v.flags)
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		hit := p.kill()
		if strings.Contains(p.said.String(), "were done before") {
			resumed++
		}
		if hit {
			killed++
			if _, err := state(dst); err != nil {
				t.Fatalf("after kill %d: %v", killed, err)
			}
			continue
		}
		if code := p.code; code != exitDone && !strings.Contains(p.said.String(), formats.ErrExists.Error()) {
			t.Fatalf("exit code %d: %s", code, p.said.String())
		}
		formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
		w.end(t)
		dir = t.TempDir()
		dst = filepath.Join(dir, v.dst)
		before(dst)
		w = watch(dst)
	}
	if p := startPack(t, src, dst, v.flags); p.wait() != exitDone && !strings.Contains(p.said.String(), formats.ErrExists.Error()) {
		t.Fatal(p.said.String())
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
	w.end(t)
	t.Logf("an undisturbed run took %v; %d kills, %d runs ended after a resume", took.Round(time.Millisecond), killed, resumed)
}

// packOld makes the dataset that is replaced. It does so in a process: files that HDF5 has
// open in this one stay open, and locked, in what a test beside this one starts.
func packOld(t *testing.T, src, dst string, flags []string) {
	t.Helper()
	if p := startPack(t, src, dst, append([]string{"--limit=17"}, flags...)); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
}

// process is a dsconv of its own.
type process struct {
	cmd   *exec.Cmd
	said  bytes.Buffer
	code  int
	ended chan struct{} // closed then; code and said are those of the end
}

// patience is how long a test waits before it considers a process hung: much longer than the slowest
// machine needs.
const patience = 5 * time.Minute

// startPack starts a pack in a process; prefix may hold a program that runs it.
func startPack(t *testing.T, src, dst string, flags []string, prefix ...string) *process {
	t.Helper()
	return start(t, slices.Concat(prefix, []string{os.Args[0], "pack", src, dst, reportAside(t)}, flags))
}

func start(t *testing.T, args []string) *process {
	t.Helper()
	p := &process{}
	p.start(t, nil, args)
	return p
}

// start starts the program, with a standard input that is empty if it is nil.
func (p *process) start(t *testing.T, in io.Reader, args []string) {
	t.Helper()
	p.startWith(t, in, &p.said, args)
}

func (p *process) startWith(t *testing.T, in io.Reader, out io.Writer, args []string) {
	t.Helper()
	p.cmd = exec.Command(args[0], args[1:]...)
	p.cmd.Env = append(os.Environ(), asProgram+"=1")
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, &p.said
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p.ended = make(chan struct{})
	go func() {
		_ = p.cmd.Wait() // the code tells
		p.code = p.cmd.ProcessState.ExitCode()
		close(p.ended)
	}()
}

// wait returns the exit code, -1 if the process was killed.
func (p *process) wait() int {
	<-p.ended
	return p.code
}

// await waits until the condition holds or the process has ended.
func (p *process) await(t *testing.T, so func() bool) {
	t.Helper()
	hung := time.After(patience)
	for !so() {
		select {
		case <-p.ended:
			return
		case <-time.After(time.Millisecond):
		case <-hung:
			_ = p.kill()
			t.Fatalf("it hangs: %s", p.said.String())
		}
	}
}

// kill kills the process and reports whether it was still running.
func (p *process) kill() bool {
	_ = p.cmd.Process.Kill() // it may have ended
	return p.wait() < 0
}

// state opens DST and returns its number of samples, or -1 if it is missing. The error is that of a
// dataset that opens and is not complete.
func state(dst string) (int, error) {
	ds, err := dsconv.Formats().Open(dst)
	if errors.Is(err, formats.ErrNotDataset) {
		return -1, nil
	}
	if err != nil {
		return 0, fmt.Errorf("open: %w", err)
	}
	defer ds.Close()
	var s formats.Sample
	for i := range ds.Len() {
		in, err := ds.Info(i)
		if err := errors.Join(err, ds.Read(i, &s)); err != nil {
			return 0, err
		}
		if checksum.SampleChecksum(ds.Meta().Schema, &s) != in.Checksum {
			return 0, fmt.Errorf("%s: not the bytes that were written", in.Key)
		}
	}
	var damaged error
	err = ds.(formats.Checker).Check(context.Background(), formats.Portion{}, 1, func(d formats.Damage) {
		damaged = fmt.Errorf("%s at %d: %s", d.File, d.Offset, d.Cause)
	})
	return ds.Len(), errors.Join(err, damaged)
}

// watcher checks DST repeatedly.
type watcher struct {
	stop  chan struct{}
	wg    sync.WaitGroup
	looks int
	err   error
}

func watch(dst string) *watcher {
	w := &watcher{stop: make(chan struct{})}
	w.wg.Go(func() {
		for w.err == nil {
			w.looks++
			w.err = stableState(dst)
			select {
			case <-w.stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	})
	return w
}

func (w *watcher) end(t *testing.T) {
	t.Helper()
	close(w.stop)
	w.wg.Wait()
	if w.err != nil || w.looks == 0 {
		t.Errorf("look %d at DST while it was written: %v", w.looks, w.err)
	}
}

// stableState returns the error of state, unless DST was replaced meanwhile.
func stableState(dst string) error {
	before := identity(dst)
	_, err := state(dst)
	if err == nil || before != identity(dst) {
		return nil
	}
	return err
}

// identity identifies a DST by its metadata, and by its file or folder.
func identity(dst string) string {
	var id strings.Builder
	dir, base := filepath.Split(dst)
	stem, _, _ := strings.Cut(base, ".")
	stem, _, _ = strings.Cut(stem, "-%")
	names, _ := filepath.Glob(dir + stem + "*")
	for _, name := range names {
		if strings.HasSuffix(name, ".partial") {
			continue
		}
		if st, err := os.Lstat(name); err == nil {
			sys := st.Sys().(*syscall.Stat_t)
			fmt.Fprintln(&id, name, sys.Ino, changeTime(sys))
		}
	}
	return id.String()
}
