package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// shardFlags make four shards that take a while.
var shardFlags = []string{"--shards=4", "--resize=shorter:48", "--encode=png"}

// plannedShards plans the shards of src at dst, and returns the plan's file.
func plannedShards(t *testing.T, src, dst string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "plan.json")
	succeeds(t, append([]string{"shards", "plan", src, dst, "-o", file, reportAside(t)}, shardFlags...)...)
	return file
}

// wholePack returns the files of the dataset that pack writes, and how long that took.
func wholePack(t *testing.T, src, name string) (files map[string]string, took time.Duration) {
	t.Helper()
	dir := t.TempDir()
	begin := time.Now()
	if p := startPack(t, src, filepath.Join(dir, name), shardFlags); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	return formatcheck.Tree(t, dir), time.Since(begin)
}

// Each shard is packed by four processes at once, of which some are killed at random moments, and so is the commit. What is
// published in the end is what pack writes, and until then nothing is.
func TestKilledShards(t *testing.T) {
	src := samples(t, "60", "64x48")
	for i, name := range []string{"out-%02d.tar", "out-%d.tar.zst", "out-%03d.tfrecord"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(23, uint64(i)))
			want, took := wholePack(t, src, name)
			for killed, enough := 0, kills(t); killed < enough; {
				dir := t.TempDir()
				dst := filepath.Join(dir, name)
				file := plannedShards(t, src, dst)
				for shard := range 4 {
					killed += packShardAmidKills(t, r, took, file, dst, shard)
				}
				killed += commitAmidKills(t, r, took, file, dst)
				formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
			}
		})
	}
}

// packShardAmidKills packs a shard by four processes at once, again and again until it is there, and returns how many were
// killed.
func packShardAmidKills(t *testing.T, r *rand.Rand, took time.Duration, file, dst string, shard int) (killed int) {
	t.Helper()
	for {
		var all []*process
		for range 4 {
			all = append(all, start(t, []string{os.Args[0], "shards", "pack", "-j", "1", file, fmt.Sprint(shard)}))
		}
		for _, p := range all {
			if r.IntN(4) > 0 {
				time.Sleep(time.Duration(r.Float64() * float64(took) / 4))
				if p.kill() {
					killed++
				}
			}
		}
		for _, p := range all {
			if code := p.wait(); code > exitDone {
				t.Fatalf("shard %d: exit code %d: %s", shard, code, p.said.String())
			}
		}
		if n, err := state(dst); n != -1 || err != nil {
			t.Fatalf("something is published before the commit: %d samples, %v", n, err)
		}
		if there := dst + fmt.Sprintf(".shards/shard-%05d", shard); isThere(there) {
			return killed
		}
	}
}

func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// commitAmidKills commits a plan, and kills that at random moments, at most five times.
func commitAmidKills(t *testing.T, r *rand.Rand, took time.Duration, file, dst string) (killed int) {
	t.Helper()
	for {
		p := start(t, []string{os.Args[0], "shards", "commit", file})
		if killed < 5 {
			time.Sleep(time.Duration(r.Float64() * float64(took)))
			if p.kill() {
				killed++
			}
		}
		code := p.wait()
		if n, err := state(dst); err != nil || n != -1 && n != 60 {
			t.Fatalf("after a killed commit: %d samples, %v", n, err)
		}
		switch {
		case code == exitDone && !isThere(dst+".shards"):
			return killed
		case code >= exitDone:
			t.Fatalf("commit: exit code %d: %s", code, p.said.String())
		}
	}
}

// startOnPipe starts packing the only shard of a plan, with a pipe as its standard input whose other end it returns, and
// stops it by a signal in the middle.
func startOnPipe(t *testing.T, file, dst string) (p *process, other *os.File) {
	t.Helper()
	for {
		in, out, err := os.Pipe()
		must(t, err)
		p := &process{}
		p.start(t, in, []string{os.Args[0], "shards", "pack", "--stop-with-stdin", "-j", "1", file, "0"})
		must(t, in.Close())
		p.await(t, func() bool { return attempts(t, dst) > 0 })
		if p.cmd.Process.Signal(syscall.SIGSTOP) == nil && attempts(t, dst) > 0 {
			return p, out
		}
		if p.wait() != exitDone { // else it was too fast
			t.Fatal(p.said.String())
		}
		must(t, out.Close())
		must(t, os.RemoveAll(dst+".shards/shard-00000"))
	}
}

// attempts returns the number of attempts that are left or run.
func attempts(t *testing.T, dst string) int {
	t.Helper()
	found, err := filepath.Glob(dst + ".shards/try-*")
	must(t, err)
	return len(found)
}

// With --stop-with-stdin a shard is not packed any more when the process that holds the other end of the pipe is killed.
func TestShardStopsWithStdin(t *testing.T) {
	dst := filepath.Join(t.TempDir(), "x.tar")
	file := filepath.Join(t.TempDir(), "plan.json")
	succeeds(t, "shards", "plan", samples(t, "200", "200x150"), dst, "-o", file, "--encode=png", "--resize=shorter:100")
	p, other := startOnPipe(t, file, dst)
	holder := &process{}
	holder.startWith(t, nil, other, []string{"sleep", "1000"})
	must(t, other.Close())
	if !holder.kill() {
		t.Fatal("the holder of the pipe has ended by itself")
	}
	must(t, p.cmd.Process.Signal(syscall.SIGCONT))
	if code := p.wait(); code != exitFailed || !strings.Contains(p.said.String(), "standard input has ended") {
		t.Errorf("exit code %d: %s", code, p.said.String())
	}
	if attempts(t, dst) != 0 || isThere(dst+".shards/shard-00000") {
		t.Errorf("the attempt left something, or went on")
	}
	if code, said := dsconvSays("shards", "pack", file, "0"); code != exitDone {
		t.Errorf("again: exit code %d: %s", code, said)
	}
}
