package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/internal/testing/failingdisk"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/reader"
)

// sourceServer is the environment variable that makes the test binary serve a disk that fails: the folder that it shows, and
// where.
const sourceServer = "DSCONV_TEST_FAILING_SOURCE"

// sourceDisk shows a folder at a mount point, by a process of its own.
type sourceDisk struct {
	t            *testing.T
	folder, at   string
	server       *exec.Cmd
	in           io.WriteCloser
	answers      *bufio.Reader
	errs         strings.Builder
	disconnected bool
}

func newSourceDisk(t *testing.T, folder string) *sourceDisk {
	t.Helper()
	d := &sourceDisk{t: t, folder: folder, at: t.TempDir()}
	t.Cleanup(d.end)
	d.mount()
	return d
}

func (d *sourceDisk) mount() {
	d.t.Helper()
	d.server = exec.Command(os.Args[0], "-test.run=^TestFailingSource$")
	d.server.Env = append(os.Environ(), sourceServer+"="+d.folder+"\n"+d.at)
	d.server.Stderr = &d.errs
	var err error
	d.in, err = d.server.StdinPipe()
	must(d.t, err)
	out, err := d.server.StdoutPipe()
	must(d.t, err)
	must(d.t, d.server.Start())
	d.answers, d.disconnected = bufio.NewReader(out), false
	if line, _ := d.answers.ReadString('\n'); line != "mounted\n" {
		d.t.Skipf("no file system can be mounted here: %s", line)
	}
}

// set makes that share of calls fail with an error.
func (d *sourceDisk) set(share float64, errno int) {
	_, err := fmt.Fprintln(d.in, share, errno)
	must(d.t, err)
	_, err = d.answers.ReadString('\n')
	must(d.t, err)
}

// die kills the process that serves the disk.
func (d *sourceDisk) die() { _ = d.server.Process.Kill() }

// unmount leaves an empty folder in the place of the disk.
func (d *sourceDisk) unmount() { must(d.t, syscall.Unmount(d.at, syscall.MNT_DETACH)) }

func (d *sourceDisk) end() {
	_ = d.server.Process.Kill()
	_ = d.server.Wait()
	for syscall.Unmount(d.at, syscall.MNT_DETACH) == nil {
	}
}

// heal makes the disk work again.
func (d *sourceDisk) heal() {
	d.end()
	d.mount()
}

// harm is what happens to a disk while it is read.
type harm struct {
	name string
	do   func(d *sourceDisk)
	// now: it happens before the command begins, and else at a random moment.
	now, hangs bool
}

// harms are all that may happen; a random one comes to each run.
func harms() []harm {
	list := []harm{
		{name: "the server dies", do: (*sourceDisk).die},
		{name: "it is unmounted", do: (*sourceDisk).unmount},
		{name: "it hangs", do: func(d *sourceDisk) { d.set(1, failingdisk.Hang) }, hangs: true},
		{name: "some reads hang", do: func(d *sourceDisk) { d.set(0.05, failingdisk.Hang) }, now: true, hangs: true},
	}
	for _, errno := range []syscall.Errno{syscall.EACCES, syscall.EIO, syscall.ESTALE, syscall.ETIMEDOUT, syscall.ENOTCONN} {
		for share, now := range map[float64]bool{0.003: true, 0.02: true, 1: false} {
			list = append(list, harm{name: fmt.Sprint(errno, " ", share), do: func(d *sourceDisk) { d.set(share, int(errno)) }, now: now})
		}
	}
	return list
}

// runHarmed runs a command while the disk fails, and returns its exit code and what it said. A command that hangs is
// interrupted.
func (d *sourceDisk) runHarmed(r *rand.Rand, took time.Duration, h harm, args ...string) (code int, said string) {
	d.t.Helper()
	if h.now {
		h.do(d)
	}
	p := start(d.t, append([]string{os.Args[0]}, args...))
	if !h.now {
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		h.do(d)
	}
	if h.hangs {
		select {
		case <-p.ended:
		case <-time.After(time.Duration(r.Float64() * float64(took))):
			_ = p.cmd.Process.Signal(syscall.SIGINT)
		}
	}
	p.await(d.t, func() bool { return false }) // it must end by itself
	if code = p.wait(); code < 0 && h.hangs {
		code = exitFailed // the signal came before the program began
	}
	return code, p.said.String()
}

// sourceTrial is a command whose source fails.
type sourceTrial struct {
	name, out string // out is the dataset in the folder dir
	// prepare makes what the command needs in the folder dir, from the disk's folder while it works.
	prepare func(dir, src string)
	run     func(dir, src string) [][]string // the commands, one after another
	before  int                              // samples of the dataset before, -1 for none
}

func sourceTrials(t *testing.T, old string) []sourceTrial {
	const small = "--checkpoint=20KB"
	report := reportAside(t)
	nothing := func(string, string) {}
	return []sourceTrial{
		{"pack", "out.tfrecord", nothing, func(dir, src string) [][]string {
			return [][]string{{"pack", src, dir + "/out.tfrecord", small, report}}
		}, -1},
		{"pack --force", "out.tar", func(dir, _ string) { succeeds(t, "pack", old, dir+"/out.tar", report) }, func(dir, src string) [][]string {
			return [][]string{{"pack", "--force", src, dir + "/out.tar", small, "--encode=png", report}}
		}, 30},
		{"add", "out.tar", func(dir, _ string) { succeeds(t, "pack", old, dir+"/out.tar", report) }, func(dir, src string) [][]string {
			return [][]string{{"add", "--hash", dir + "/out.tar", src, small, report}}
		}, 30},
		{"shards", "out-%d.tar", func(dir, src string) {
			succeeds(t, "shards", "plan", src, dir+"/out-%d.tar", "-o", dir+".json", "--shards=2", "--discard", report)
		}, func(dir, _ string) [][]string {
			return [][]string{{"shards", "pack", dir + ".json", "0"}, {"shards", "pack", dir + ".json", "1"}, {"shards", "commit", dir + ".json"}}
		}, -1},
	}
}

// A source that dies, hangs, is unmounted or returns errors at random ends each command: no sample is lost, nothing is
// published or replaced, and the command that is repeated when the disk works again writes the bytes of an undisturbed one.
// Without DSCONV_KILLS each command has a few runs.
func TestFailingSource(t *testing.T) {
	if given := os.Getenv(sourceServer); given != "" {
		folder, at, _ := strings.Cut(given, "\n")
		if err := failingdisk.Serve(folder, at, os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	folder := samples(t, "60", "64x48")
	old := halfOf(t, folder)
	for i, v := range sourceTrials(t, old) {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			d := newSourceDisk(t, folder)
			want, took := v.undisturbed(t, d)
			r := rand.New(rand.NewPCG(41, uint64(i)))
			codes := map[int]int{}
			for n := range kills(t) {
				h := harms()[r.IntN(len(harms()))]
				if quick() {
					h = harms()[(3*i+n)%len(harms())]
				}
				v.once(t, d, r, took, h, want, codes)
			}
			t.Logf("exit codes of disturbed commands: %v", codes)
		})
	}
}

// halfOf returns a copy of a folder that has each other file.
func halfOf(t *testing.T, folder string) string {
	t.Helper()
	dir, n := t.TempDir(), 0
	must(t, filepath.WalkDir(folder, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		if n++; n%2 == 0 {
			return nil
		}
		rel, err := filepath.Rel(folder, path)
		to := filepath.Join(dir, rel)
		must(t, errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o755), os.Link(path, to)))
		return nil
	}))
	return dir
}

func (v *sourceTrial) undisturbed(t *testing.T, d *sourceDisk) (want map[string]string, took time.Duration) {
	t.Helper()
	dir := t.TempDir()
	v.prepare(dir, d.at)
	begin := time.Now()
	for _, args := range v.run(dir, d.at) {
		if p := start(t, append([]string{os.Args[0]}, args...)); p.wait() != exitDone {
			t.Fatal(p.said.String())
		}
	}
	return formatcheck.Tree(t, dir), time.Since(begin) / time.Duration(len(v.run(dir, d.at)))
}

// once runs the commands while the disk fails, and again when it works.
func (v *sourceTrial) once(t *testing.T, d *sourceDisk, r *rand.Rand, took time.Duration, h harm, want map[string]string, codes map[int]int) {
	t.Helper()
	dir := t.TempDir()
	v.prepare(dir, d.at)
	failed := 0
	for _, args := range v.run(dir, d.at) {
		code, said := d.runHarmed(r, took, h, args...)
		codes[code]++
		if code != exitDone && code != exitFailed {
			t.Fatalf("%s: %q: exit code %d: %s", h.name, args, code, said)
		}
		if code == exitFailed {
			failed++
		}
		d.heal()
	}
	n, err := state(filepath.Join(dir, v.out))
	if err != nil || failed > 0 && n != v.before || failed == 0 && n != 60 {
		t.Fatalf("%s: %d commands failed, and there are %d samples, %v", h.name, failed, n, err)
	}
	if failed > 0 {
		for _, args := range v.run(dir, d.at) {
			if p := start(t, append([]string{os.Args[0]}, args...)); p.wait() != exitDone {
				t.Fatalf("%s: again: exit code %d: %s", h.name, p.code, p.said.String())
			}
		}
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
}

// A Loader of a folder that fails gives each sample once or an error, and when the disk works again all are there.
func TestFailingSourceOfLoader(t *testing.T) {
	folder := samples(t, "60", "64x48")
	d := newSourceDisk(t, folder)
	r := rand.New(rand.NewPCG(43, 0))
	failed := 0
	for n := range kills(t) {
		h := harms()[r.IntN(len(harms()))]
		if h.hangs {
			continue
		}
		on := []reader.OnError{reader.Fail, reader.Skip}[n%2]
		if h.now {
			h.do(d)
		}
		loaded, bad, err := loadAll(d.at, on, func() {
			if !h.now {
				h.do(d)
			}
		})
		if err == nil && loaded+bad != 60 || on == reader.Fail && bad > 0 {
			t.Errorf("%s: %s: %d loaded, %d bad", h.name, on, loaded, bad)
		}
		if err != nil || bad > 0 {
			failed++
		}
		d.heal()
		if loaded, bad, err := loadAll(d.at, on, func() {}); loaded != 60 || bad != 0 || err != nil {
			t.Errorf("after %s: %d loaded, %d bad, %v", h.name, loaded, bad, err)
		}
	}
	t.Logf("%d disturbed epochs failed or had bad samples", failed)
}

// loadAll loads an epoch of the folder; begun is called after the first batch.
func loadAll(path string, on reader.OnError, begun func()) (loaded, bad int, err error) {
	l, err := dsconv.NewLoader(path, reader.Config{BatchSize: 4, Prefetch: 1, Workers: 2, OnError: on})
	if err != nil {
		return 0, 0, err
	}
	defer l.Close()
	for b, err := range l.Epoch(context.Background(), 0) {
		if err != nil {
			return loaded, bad, err
		}
		if loaded == 0 {
			begun()
		}
		loaded, bad = loaded+b.N, bad+b.Skipped
	}
	return loaded, bad, nil
}
