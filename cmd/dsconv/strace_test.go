package main

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// strace makes chosen system calls fail, or kills the process at them, in Go and in C libraries.

// needStrace skips the test if strace cannot be used.
func needStrace(t *testing.T) {
	t.Helper()
	out, err := exec.Command("strace", "-f", "-qq", "--seccomp-bpf", "-e", "trace=fsync", "true").CombinedOutput()
	if err != nil {
		t.Skipf("strace is not there or not allowed: %v %s", err, out)
	}
}

// writing are the system calls that change files.
const writing = "write,pwrite64,writev,pwritev,fsync,fdatasync,msync,ftruncate,renameat,renameat2,rename," +
	"mkdirat,mkdir,unlinkat,unlink,rmdir,openat"

// call is a system call on a file as the log has it.
type call struct {
	name   string
	path   string // the first path, or that of the file descriptor
	to     string // of a rename
	create bool   // openat that may make the file
	failed bool
	begun  bool // the line has only its start
}

var (
	callLine = regexp.MustCompile(`^\d+ +(\w+)\((.*)$`)
	fdPath   = regexp.MustCompile(`^\d+<([^>]+)>`)
	quoted   = regexp.MustCompile(`"([^"]*)"`)
)

// traced packs under strace and returns the calls on files in dir, in order.
func traced(t *testing.T, src, dir string, v packing) []call {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	p := startPack(t, src, filepath.Join(dir, v.dst), v.flags, "strace", "-f", "-qq", "-y", "--seccomp-bpf", "-s", "0", "-o", log, "-e", "trace="+writing)
	if p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	var calls []call
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		if c, ok := parseCall(lines.Text()); ok && strings.HasPrefix(c.path, dir) {
			calls = append(calls, c)
		}
	}
	return calls
}

func parseCall(line string) (call, bool) {
	m := callLine.FindStringSubmatch(line)
	if m == nil {
		return call{}, false
	}
	c := call{name: m[1], begun: strings.HasSuffix(line, "<unfinished ...>"), failed: strings.Contains(line, ") = -1 ")}
	texts := quoted.FindAllStringSubmatch(m[2], -1)
	switch c.name {
	case "renameat", "renameat2", "rename":
		if len(texts) < 2 {
			return c, false
		}
		c.path, c.to = texts[0][1], texts[1][1]
	case "mkdirat", "mkdir", "unlinkat", "unlink", "rmdir", "openat":
		if len(texts) < 1 {
			return c, false
		}
		c.path, c.create = texts[0][1], c.name == "openat" && strings.Contains(m[2], "O_CREAT")
		if at := strings.LastIndex(m[2], "<"); c.name == "unlinkat" && !filepath.IsAbs(c.path) && at > 0 {
			d := regexp.MustCompile(`<([^>]+)>`).FindStringSubmatch(m[2])
			c.path = filepath.Join(d[1], c.path)
		}
	default:
		fd := fdPath.FindStringSubmatch(m[2])
		if fd == nil {
			return c, false
		}
		c.path = fd[1]
	}
	return c, true
}

// Power may fail at any moment. Before a rename or a checkpoint, the bytes and names that it publishes
// must be on the disk, and the rename itself before the next step.
func TestSyncedBeforeItCounts(t *testing.T) {
	needStrace(t)
	src := samples(t, "30", "64x48")
	for _, v := range packings() {
		t.Run(v.name(), func(t *testing.T) {
			dir := t.TempDir()
			for _, old := range []bool{false, true} {
				if old {
					v.flags = append(v.flags, "--force")
				}
				d := disk{dir: dir, bytes: map[string]bool{}, names: map[string]bool{}}
				for _, c := range traced(t, src, dir, v) {
					if wrong := d.take(c); wrong != "" {
						t.Error(wrong)
					}
				}
				if wrong := d.unsynced(dir, true); wrong != "" {
					t.Errorf("at the end: %s", wrong)
				}
			}
		})
	}
}

// disk records what a power failure may lose: files and folders that were changed after their last
// sync.
type disk struct {
	dir          string
	bytes, names map[string]bool
}

// take applies one call and returns what it publishes too early.
func (d *disk) take(c call) string {
	if c.failed || strings.HasSuffix(c.path, ".partial/lock") {
		return ""
	}
	switch c.name {
	case "write", "pwrite64", "writev", "pwritev", "ftruncate":
		if strings.HasSuffix(c.path, ".partial/journal") && !d.bytes[c.path] {
			// A checkpoint vouches for the files under data.
			if wrong := d.unsynced(filepath.Join(filepath.Dir(c.path), "data"), true); wrong != "" {
				return "a checkpoint before " + wrong
			}
		}
		d.bytes[c.path] = true
	case "fsync", "fdatasync", "msync":
		delete(d.bytes, c.path)
		delete(d.names, c.path)
	case "openat":
		if c.create {
			d.names[filepath.Dir(c.path)] = true
		}
	case "mkdirat", "mkdir":
		d.names[filepath.Dir(c.path)] = true
	case "unlinkat", "unlink", "rmdir":
		delete(d.bytes, c.path)
		delete(d.names, c.path)
	case "renameat", "renameat2", "rename":
		return d.rename(c)
	}
	return ""
}

// rename checks that everything that it publishes is on the disk.
func (d *disk) rename(c call) (wrong string) {
	outside := !strings.Contains(c.to, ".partial/")
	if outside || strings.HasSuffix(c.to, ".partial/publish") {
		if wrong = d.unsynced(c.path, outside); wrong != "" {
			wrong = fmt.Sprintf("%s goes into place before %s", c.to, wrong)
		}
		if d.names[d.dir] {
			wrong += fmt.Sprintf("; %s goes into place before the name of the one before it is on the disk", c.to)
		}
	}
	for _, m := range []map[string]bool{d.bytes, d.names} {
		for path := range maps.Clone(m) {
			if path == c.path || strings.HasPrefix(path, c.path+"/") {
				delete(m, path)
				m[c.to+strings.TrimPrefix(path, c.path)] = true
			}
		}
	}
	d.names[filepath.Dir(c.to)] = true
	return strings.TrimPrefix(wrong, "; ")
}

// unsynced returns the paths at path and below that are not on the disk.
func (d *disk) unsynced(path string, names bool) string {
	for p := range d.bytes {
		if (p == path || strings.HasPrefix(p, path+"/")) && filepath.Base(p) != "lock.mdb" {
			return "the bytes of " + p + " are on the disk"
		}
	}
	for p := range d.names {
		if names && (p == path || strings.HasPrefix(p, path+"/")) {
			return "the names in " + p + " are on the disk"
		}
	}
	return ""
}

// point is a call that is made to fail.
type point struct {
	call string
	path string
	nth  int
}

// points returns the calls of a pack that can fail.
func points(calls []call) []point {
	seen := map[point]int{}
	for _, c := range calls {
		if c.name == "openat" && !c.create {
			continue
		}
		seen[point{call: c.name, path: c.path}]++
	}
	var all []point
	for p, n := range seen {
		for p.nth = 1; p.nth <= n; p.nth++ {
			all = append(all, p)
		}
	}
	slices.SortFunc(all, func(a, b point) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return all
}

// chosen returns some of the points, or all in a torture run.
func chosen(t *testing.T, all []point, n int, r *rand.Rand) []point {
	if os.Getenv("DSCONV_KILLS") != "" {
		return all
	}
	if testing.Short() {
		n = 1
	}
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	t.Logf("%d of %d points", min(n, len(all)), len(all))
	return all[:min(n, len(all))]
}

// under returns the strace command that fails or kills at the call p of a pack below dir.
func (p point) under(from, dir, what string) []string {
	path := dir + strings.TrimPrefix(p.path, from)
	return []string{
		"strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-P", path,
		"-e", "trace=" + p.call, "-e", fmt.Sprintf("inject=%s:%s:when=%d", p.call, what, p.nth),
	}
}

// Each writing call fails once: there is a clear error, nothing looks finished that is not,
// and then the same command resumes and ends with the same bytes.
func TestFailingDisk(t *testing.T) {
	needStrace(t)
	eachPoint(t, 6, func(t *testing.T, e experiment, p point, r *rand.Rand) {
		errno, text := "EIO", "input/output error"
		if r.IntN(4) == 0 && !strings.Contains(p.call, "sync") {
			errno, text = "ENOSPC", "no space left"
		}
		run := startPack(t, e.src, e.dst, e.v.flags, p.under(e.whole, e.dir, "error="+errno)...)
		code, said := run.wait(), run.said.String()
		if code == exitDone {
			return // no thread came to its n-th call, or what failed does not matter
		}
		if code != exitFailed || !strings.Contains(strings.ToLower(said), text) || !strings.Contains(said, e.dir) {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
}

// At the same points the process is killed.
func TestKilledAtCalls(t *testing.T) {
	needStrace(t)
	eachPoint(t, 4, func(t *testing.T, e experiment, p point, _ *rand.Rand) {
		startPack(t, e.src, e.dst, e.v.flags, p.under(e.whole, e.dir, "signal=KILL")...).wait()
	})
}

// experiment is a pack that is disturbed at a point.
type experiment struct {
	src, dir, dst string
	whole         string // the folder of the undisturbed pack
	v             packing
}

// eachPoint disturbs a pack of each variant at n points, or all. It checks that DST is complete or missing
// then, and complete after the same command.
func eachPoint(t *testing.T, n int, disturb func(*testing.T, experiment, point, *rand.Rand)) {
	src := samples(t, "30", "64x48")
	for i, v := range packings() {
		for _, force := range []bool{false, true} {
			// A quick run replaces several files only.
			if quick() && (force && !strings.Contains(v.dst, "%") || !force && !v.plain) {
				continue
			}
			e := experiment{src: src, v: v}
			if force {
				e.v.flags = append(slices.Clone(v.flags), "--force")
			}
			t.Run(e.v.name(), func(t *testing.T) {
				t.Parallel()
				e.each(t, n, force, rand.New(rand.NewPCG(3, uint64(i))), disturb)
			})
		}
	}
}

func (e experiment) each(t *testing.T, n int, force bool, r *rand.Rand, disturb func(*testing.T, experiment, point, *rand.Rand)) {
	prepare := func(dir string) {
		if !force {
			return
		}
		packOld(t, e.src, filepath.Join(dir, e.v.dst), e.v.flags)
		usersFiles(t, filepath.Join(dir, e.v.dst))
	}
	e.whole = t.TempDir()
	prepare(e.whole)
	all := points(traced(t, e.src, e.whole, e.v))
	want := formatcheck.Tree(t, e.whole)
	for _, p := range chosen(t, all, n, r) {
		e.dir = t.TempDir()
		e.dst = filepath.Join(e.dir, e.v.dst)
		prepare(e.dir)
		disturb(t, e, p, r)
		if _, err := state(e.dst); err != nil {
			t.Errorf("%v: %v", p, err)
		}
		again := startPack(t, e.src, e.dst, e.v.flags)
		if code := again.wait(); code != exitDone && !strings.Contains(again.said.String(), formats.ErrExists.Error()) {
			t.Errorf("%v, then exit code %d: %s", p, code, again.said.String())
		}
		formatcheck.SameTrees(t, formatcheck.Tree(t, e.dir), want)
		if t.Failed() {
			t.Fatalf("at %+v", p)
		}
		os.RemoveAll(e.dir)
	}
}
