package main

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// An edit with --keep-old and its undo may be killed at any step. The dataset is at each moment one of the
// two versions or missing, the same command ends with the result of an undisturbed one, and foreign files
// stay.
func TestKilledWhileKeeping(t *testing.T) {
	needStrace(t)
	src := samples(t, "60", "64x48")
	for i, v := range packings() {
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(5, uint64(i)))
			old, edited, undone := t.TempDir(), t.TempDir(), t.TempDir()
			packOld(t, src, filepath.Join(old, v.dst), v.flags)
			usersFiles(t, filepath.Join(old, v.dst))
			add := func(dst string) []string {
				return []string{os.Args[0], "add", dst, src, "--keep-old", "--checkpoint=20KB", reportAside(t)}
			}
			undo := func(dst string) []string { return []string{os.Args[0], "undo", dst} }
			copyTree(t, edited, old)
			ends(t, add(filepath.Join(edited, v.dst)))
			copyTree(t, undone, edited)
			ends(t, undo(filepath.Join(undone, v.dst)))
			isUndone(t, undone, old, edited, v.dst)
			k := keeping{dst: v.dst, r: r}
			k.killed(t, add, old, edited, 60)
			k.killed(t, undo, edited, undone, 17)
			k.killed(t, undo, undone, edited, 60)
		})
	}
}

// Two classes that exchange their names do so once: a run that was killed at any step is finished by the same
// command, also if all that was left to do was to publish the new version.
func TestKilledWhileExchangingClasses(t *testing.T) {
	needStrace(t)
	src := samples(t, "60", "64x48")
	for i, v := range packings() {
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			old, exchanged := t.TempDir(), t.TempDir()
			packOld(t, src, filepath.Join(old, v.dst), v.flags)
			usersFiles(t, filepath.Join(old, v.dst))
			classes := described(t, filepath.Join(old, v.dst)).Schema[1].Classes
			a, b := classes[0], classes[1]
			exchange := func(dst string) []string {
				return []string{os.Args[0], "relabel", dst, "--rename", a + "=" + b, "--rename", b + "=" + a, "--checkpoint=20KB"}
			}
			copyTree(t, exchanged, old)
			ends(t, exchange(filepath.Join(exchanged, v.dst)))
			k := keeping{dst: v.dst, r: rand.New(rand.NewPCG(6, uint64(i))), classes: append([]string{b, a}, classes[2:]...)}
			k.killed(t, exchange, old, exchanged, 17)
		})
	}
}

// isUndone checks that the dataset is the old version, and that the edited one is kept.
func isUndone(t *testing.T, undone, old, edited, dst string) {
	t.Helper()
	got, was, now := formatcheck.Tree(t, undone), formatcheck.Tree(t, old), formatcheck.Tree(t, edited)
	kept := map[string]string{}
	maps.DeleteFunc(got, func(name, text string) bool {
		rest, ok := strings.CutPrefix(name, dst+".old"+string(filepath.Separator))
		if ok && rest != "kept.json" {
			kept[rest] = text
		}
		return ok
	})
	formatcheck.SameTrees(t, got, was)
	maps.DeleteFunc(now, func(name, _ string) bool {
		return strings.HasPrefix(name, dst+".old") || strings.Contains(name, "NOTES.md") || strings.Contains(name, "results.txt")
	})
	formatcheck.SameTrees(t, kept, now)
}

func ends(t *testing.T, args []string) {
	t.Helper()
	if p := start(t, args); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
}

// keeping is a dataset whose edits are killed.
type keeping struct {
	dst     string
	r       *rand.Rand
	classes []string // after the command; nil if it changes the number of samples
}

// killed kills a command that makes the folder to of the folder from, at some of its steps or all.
func (k keeping) killed(t *testing.T, command func(dst string) []string, from, to string, samples int) {
	t.Helper()
	want := formatcheck.Tree(t, to)
	const calls = "renameat,renameat2,linkat,unlinkat,rmdir,mkdirat,fsync"
	steps := slices.Collect(func(yield func(int) bool) {
		for n := 1; n <= 60 && yield(n); n++ {
		}
	})
	if quick() {
		k.r.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
		steps = steps[:3]
	}
	for _, n := range steps {
		dir := t.TempDir()
		copyTree(t, dir, from)
		dst := filepath.Join(dir, k.dst)
		w := watch(dst)
		p := start(t, append([]string{
			"strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=" + calls,
			"-e", fmt.Sprintf("inject=%s:signal=KILL:when=%d", calls, n),
		}, command(dst)...))
		p.wait()
		now, err := state(dst)
		if err != nil {
			t.Errorf("killed at call %d: %v", n, err)
		}
		_, err = os.Stat(dst + ".partial")
		if unfinished := err == nil; unfinished || now != samples || k.classes != nil && !slices.Equal(described(t, dst).Schema[1].Classes, k.classes) {
			ends(t, command(dst))
		}
		w.end(t)
		formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
		if t.Failed() {
			t.Fatalf("killed at call %d: %s", n, p.said.String())
		}
		os.RemoveAll(dir)
	}
}
