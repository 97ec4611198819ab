package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// often makes many checkpoints. In key order the last image is read last.
var often = []string{"--checkpoint=20KB", "--order=key"}

// A resume names the files of the source that have changed since, and ignores files that only seem
// changed.
func TestSourceChangesAreNamed(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, images []string)
		says   []string // nil: it resumes
	}{
		{"nothing", func(*testing.T, []string) {}, nil},
		{"times alone", func(t *testing.T, images []string) {
			for _, name := range images {
				must(t, os.Chtimes(name, time.Now(), time.Now()))
			}
		}, nil},
		{"bytes of one that was not packed", func(t *testing.T, images []string) {
			b := read(t, images[len(images)-1])
			b[len(b)/2] ^= 1
			must(t, os.WriteFile(images[len(images)-1], b, 0o644))
		}, nil},
		{"bytes of one that was packed", func(t *testing.T, images []string) {
			b := read(t, images[3])
			b[len(b)/2] ^= 1
			must(t, os.WriteFile(images[3], b, 0o644))
		}, []string{"1 changed: ", "000", "other bytes"}},
		{"size", func(t *testing.T, images []string) {
			must(t, os.WriteFile(images[3], append(read(t, images[3]), 0), 0o644))
		}, []string{"1 changed: ", "bytes, was "}},
		{"one removed", func(t *testing.T, images []string) { must(t, os.Remove(images[1])) }, []string{"1 removed: "}},
		{"twelve removed", func(t *testing.T, images []string) {
			for _, name := range images[:12] {
				must(t, os.Remove(name))
			}
		}, []string{"12 removed: ", ", ..."}},
		{"one added", func(t *testing.T, images []string) {
			must(t, os.WriteFile(filepath.Join(filepath.Dir(images[1]), "new.jpg"), read(t, images[1]), 0o644))
		}, nil}, // the dataset is finished without it
		{"a class added", func(t *testing.T, images []string) {
			dir := filepath.Join(filepath.Dir(filepath.Dir(images[1])), "aaa")
			must(t, os.Mkdir(dir, 0o755))
			must(t, os.WriteFile(filepath.Join(dir, "new.jpg"), read(t, images[1]), 0o644))
		}, []string{"1 added: aaa/new.jpg", "(label "}},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := samples(t, "60", "64x48")
			dst := filepath.Join(t.TempDir(), "out.tar")
			interrupt(t, src, dst)
			c.change(t, imagesOf(t, src))
			code, said := packTo(t, src, dst, often...)
			if c.says == nil {
				if code != exitDone || !strings.Contains(said, "were done before") {
					t.Errorf("exit code %d: %s", code, said)
				}
				return
			}
			for _, want := range append(c.says, "--discard") {
				if code != exitFailed || !strings.Contains(said, want) {
					t.Errorf("exit code %d, without %q: %s", code, want, said)
				}
			}
		})
	}
}

// A pack into one dataset per split is resumed too: finished datasets stay.
func TestFinishedSplitsStay(t *testing.T) {
	src := samples(t, "60", "64x48")
	dir := t.TempDir()
	flags := []string{"--format=tfrecord", "--split=a=0.5,b=0.3,c=0.2"}
	if code, said := packTo(t, src, dir, flags...); code != exitDone {
		t.Fatal(said)
	}
	want := formatcheck.Tree(t, dir)
	for _, name := range filesOf(t, dir) {
		if strings.HasPrefix(name, "c") {
			must(t, os.RemoveAll(filepath.Join(dir, strings.Split(name, "/")[0])))
		}
	}
	before := identity(filepath.Join(dir, "a"))
	if code, said := packTo(t, src, dir, flags...); code != exitDone || !strings.Contains(said, "found 60 = written 60") {
		t.Errorf("exit code %d: %s", code, said)
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
	if identity(filepath.Join(dir, "a")) != before {
		t.Error("what was done was written again")
	}
	if code, said := packTo(t, src, dir, flags...); code != exitFailed || !strings.Contains(said, "--force") {
		t.Errorf("once more: exit code %d: %s", code, said)
	}
}

// If a bit flips in a staging folder, the resume fails or ends with the right bytes. Flipped bits of
// samples never get a valid checksum.
func TestRottenPartial(t *testing.T) {
	src := samples(t, "60", "64x48")
	r := rand.New(rand.NewPCG(4, 4))
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			if code, said := packTo(t, src, filepath.Join(whole, name), often...); code != exitDone {
				t.Fatal(said)
			}
			want := formatcheck.Tree(t, whole)
			rotten := t.TempDir()
			interrupt(t, src, filepath.Join(rotten, name))
			noticed, flips := 0, 0
			for _, file := range filesOf(t, rotten) {
				for range 12 {
					dir := t.TempDir()
					must(t, os.CopyFS(dir, os.DirFS(rotten)))
					b := read(t, filepath.Join(dir, file))
					if len(b) == 0 {
						break // the lock
					}
					at, bit := r.IntN(len(b)), byte(1)<<r.IntN(8)
					b[at] ^= bit
					must(t, os.WriteFile(filepath.Join(dir, file), b, 0o644))
					code, said := packTo(t, src, filepath.Join(dir, name), often...)
					inData := strings.Contains(file, ".partial/data/") && filepath.Base(file) != "saved" // whose damaged end is cut off
					if inData {
						flips++
					}
					switch {
					case code == exitDone:
						got := formatcheck.Tree(t, dir)
						if filepath.Base(file) == "data.mdb" {
							revertFreePage(t, filepath.Join(dir, name), got, want, at, bit)
						}
						formatcheck.SameTrees(t, got, want)
					case code != exitFailed || !strings.Contains(said, "damaged") || !strings.Contains(said, "--discard"):
						t.Errorf("exit code %d: %s", code, said)
					case inData:
						noticed++
					}
					if t.Failed() {
						t.Fatalf("a bit of byte %d of %s (%d bytes)", at, file, len(b))
					}
					must(t, os.RemoveAll(dir))
				}
			}
			if t.Logf("%d of %d in data noticed", noticed, flips); noticed < flips/3 {
				t.Errorf("%d of %d flips in data noticed", noticed, flips)
			}
		})
	}
}

// revertFreePage reverts in got a flip of a page of data.mdb that LMDB did not use, neither at the last
// checkpoint nor later. No checkpoint covers such pages, since LMDB may write them at any time; so the
// flip stays, and the finished dataset is undamaged nevertheless.
func revertFreePage(t *testing.T, dst string, got, want map[string]string, at int, bit byte) {
	t.Helper()
	file := filepath.Base(dst) + "/data.mdb"
	b := []byte(got[file])
	if at >= len(b) {
		return
	}
	if b[at] ^= bit; string(b) != want[file] {
		return
	}
	if code, said := dsconvSays("verify", dst); code != exitDone {
		t.Errorf("verify: exit code %d: %s", code, said)
	}
	got[file] = want[file]
	sums := filepath.Base(dst) + "/checksums"
	got[sums] = want[sums]
}

// A limit on file sizes causes short writes and EFBIG. The signal that comes with it must not kill the
// process.
func TestFileSizeLimit(t *testing.T) {
	// LMDB calls every short write an input/output error.
	tooLarge := regexp.MustCompile(`(?i)file too large|data\.mdb: .*input/output error`)
	src := samples(t, "60", "64x48")
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			whole := t.TempDir()
			if code, said := packTo(t, src, filepath.Join(whole, name), often...); code != exitDone {
				t.Fatal(said)
			}
			for _, blocks := range []int{1, 9, 40, 120} {
				dir := t.TempDir()
				dst := filepath.Join(dir, name)
				p := startPack(t, src, dst, often, "sh", "-c", fmt.Sprintf(`ulimit -f %d; exec "$@"`, blocks), "sh")
				if code, said := p.wait(), p.said.String(); code != exitFailed || !tooLarge.MatchString(said) {
					t.Errorf("%d blocks: exit code %d: %s", blocks, code, said)
				}
				if n, err := state(dst); n >= 0 || err != nil {
					t.Errorf("%d blocks: %d samples, %v", blocks, n, err)
				}
				if code, said := packTo(t, src, dst, often...); code != exitDone {
					t.Errorf("%d blocks, then: exit code %d: %s", blocks, code, said)
				}
				formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, whole))
			}
		})
	}
}

// An edit that was stopped is resumed by the same command. Every other command names that command,
// quoted for a shell.
func TestAnotherCommandAfterAStoppedEdit(t *testing.T) {
	src := samples(t, "60", "64x48")
	for _, name := range append(outputsOf(), "x y-%02d.tar") {
		t.Run(name, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), name)
			if code, said := packTo(t, src, dst, "--limit=17"); code != exitDone {
				t.Fatal(said)
			}
			_, listed := dsconvSays("ls", dst)
			key, _, _ := strings.Cut(listed, "\n")
			table := filepath.Join(t.TempDir(), "labels.csv")
			must(t, os.WriteFile(table, []byte("key,split\n"+key+",val\n"), 0o644))
			last := lastImage(t, src)
			whole := read(t, last)
			must(t, os.WriteFile(last, make([]byte, len(whole)), 0o644))
			add := []string{"add", dst, src, "--checkpoint=20KB", "--on-error=fail"}
			if code, said := dsconvSays(add...); code != exitFailed {
				t.Fatalf("exit code %d: %s", code, said)
			}
			must(t, os.WriteFile(last, whole, 0o644))
			if !durable.IsDir(dst + ".partial") {
				t.Fatal("nothing is unfinished")
			}
			shown := dst
			if strings.Contains(name, " ") {
				shown = "'" + dst + "'"
			}
			for _, args := range [][]string{
				{"rm", dst, "--key", key}, {"relabel", dst, table}, {"pack", src, dst, "--force"},
			} {
				code, said := dsconvSays(args...)
				want := "cannot resume: it was started by: dsconv add " + shown + " " + src + " --checkpoint=20KB --on-error=fail"
				if code != exitFailed || !strings.Contains(said, want) || !strings.Contains(said, "start over with --discard") || strings.Contains(said, "options") {
					t.Errorf("%v: exit code %d: %s", args, code, said)
				}
			}
			if code, said := dsconvSays("rm", dst, "--key", key, "--discard"); code != exitDone {
				t.Errorf("exit code %d: %s", code, said)
			}
		})
	}
}

// interrupt leaves a staging folder with checkpoints: the last image is bad, which ends the pack. It
// restores the image afterwards.
func interrupt(t *testing.T, src, dst string, flags ...string) {
	t.Helper()
	last := lastImage(t, src)
	b := read(t, last)
	st, err := os.Stat(last)
	if err != nil {
		t.Fatal(err)
	}
	put := func(b []byte) {
		must(t, os.WriteFile(last, b, 0o644))
		must(t, os.Chtimes(last, st.ModTime(), st.ModTime()))
	}
	put(make([]byte, len(b)))
	flags = slices.Concat(often, []string{"--on-error=fail"}, flags)
	if code, said := packTo(t, src, dst, flags...); code != exitFailed || !strings.Contains(said, "repeat the command to resume") {
		t.Fatalf("exit code %d: %s", code, said)
	}
	put(b)
}

func lastImage(t *testing.T, src string) string {
	t.Helper()
	images := imagesOf(t, src)
	return images[len(images)-1]
}

func imagesOf(t *testing.T, src string) []string {
	t.Helper()
	images, err := filepath.Glob(filepath.Join(src, "*", "*"))
	if err != nil || len(images) < 10 {
		t.Fatalf("%d images: %v", len(images), err)
	}
	return images
}

// filesOf lists the files below dir, relative to it.
func filesOf(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	for name := range formatcheck.Tree(t, dir) {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	must(t, err)
	return b
}
