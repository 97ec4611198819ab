package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// While a dataset is edited, it is at each moment the old version, the new one or none. The same command
// ends with the new version, however often it was killed.
func TestKilledWhileEditing(t *testing.T) {
	src := samples(t, "60", "64x48")
	killedInEachPacking(t, src, 3, func(*testing.T, string) editStarter { return adding(src) })
}

// The same for classes that are renamed. Two that exchange their names would do so again, if the kill came after the end.
func TestKilledWhileRenamingClasses(t *testing.T) {
	killedInEachPacking(t, samples(t, "60", "64x48"), 5, func(t *testing.T, dst string) editStarter {
		t.Helper()
		classes := described(t, dst).Schema[1].Classes
		return func(t *testing.T, dst string) *process {
			t.Helper()
			return start(t, []string{
				os.Args[0], "relabel", dst, "--checkpoint=20KB",
				"--rename", classes[0] + "=another", "--rename", classes[1] + "=others",
			})
		}
	})
}

// editStarter starts an edit of the dataset dst.
type editStarter = func(t *testing.T, dst string) *process

// killedInEachPacking kills the edit that of gives for a dataset, in each of the packings of src.
func killedInEachPacking(t *testing.T, src string, seed uint64, of func(t *testing.T, dst string) editStarter) {
	t.Helper()
	for i, v := range packings() {
		if quick() && v.plain || testing.Short() && !slices.Contains([]string{"out.lmdb", "out-%02d.tar"}, v.dst) {
			continue
		}
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			old := t.TempDir()
			dst := filepath.Join(old, v.dst)
			packOld(t, src, dst, v.flags)
			usersFiles(t, dst)
			killedWhileEditing(t, of(t, dst), old, v.dst, rand.New(rand.NewPCG(seed, uint64(i))))
		})
	}
}

// The same for a renamed copy beside the original dataset, which does not change.
func TestKilledWhileEditingACopy(t *testing.T) {
	src := samples(t, "60", "64x48")
	for i, v := range packings() {
		if quick() && !strings.Contains(v.dst, "%") {
			continue
		}
		t.Run(v.name(), func(t *testing.T) {
			t.Parallel()
			old, name := t.TempDir(), copyNames.Replace(v.dst)
			packOld(t, src, filepath.Join(old, v.dst), v.flags)
			copyDataset(t, filepath.Join(old, v.dst), filepath.Join(old, name))
			usersFiles(t, filepath.Join(old, name))
			killedWhileEditing(t, adding(src), old, name, rand.New(rand.NewPCG(4, uint64(i))))
		})
	}
}

// killedWhileEditing kills edits of the dataset of that name, in a copy of the folder old, until there
// were enough kills. Nothing else in the folder may change.
func killedWhileEditing(t *testing.T, edit editStarter, old, name string, r *rand.Rand) {
	t.Helper()
	whole := t.TempDir()
	copyTree(t, whole, old)
	start := time.Now()
	if p := edit(t, filepath.Join(whole, name)); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	took := time.Since(start)
	want := formatcheck.Tree(t, whole)
	enough := kills(t)
	if quick() {
		enough = 3
	}
	for killed := 0; killed < enough; {
		dir := t.TempDir()
		copyTree(t, dir, old)
		dst := filepath.Join(dir, name)
		w := watch(dst)
		for {
			p := edit(t, dst)
			time.Sleep(time.Duration(r.Float64() * 1.2 * float64(took)))
			if !p.kill() {
				if p.code != exitDone {
					t.Fatalf("exit code %d: %s", p.code, p.said.String())
				}
				break
			}
			killed++
			if n, err := state(dst); err != nil || n >= 0 && n != 17 && n != 60 {
				t.Fatalf("after kill %d: %d samples, %v", killed, n, err)
			}
		}
		w.end(t)
		formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
	}
}

// startEdit adds the folder to the dataset in a process.
func startEdit(t *testing.T, src, dst string) *process {
	t.Helper()
	return start(t, []string{os.Args[0], "add", dst, src, "--checkpoint=20KB", reportAside(t)})
}

// adding returns startEdit of the folder.
func adding(src string) editStarter {
	return func(t *testing.T, dst string) *process {
		t.Helper()
		return startEdit(t, src, dst)
	}
}

// copyTree copies a folder.
func copyTree(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}
