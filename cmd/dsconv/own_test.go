package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// sidecarOf is the folder that belongs to a dataset: its own, or the one beside it.
func sidecarOf(t *testing.T, dst string) string {
	t.Helper()
	if strings.HasSuffix(dst, ".lmdb") {
		return dst
	}
	p, err := sharded.ParseShardPath(dst)
	must(t, err)
	return p.Sidecar()
}

// notes are a user's files in a dataset's folder: one in a folder that dsconv uses too, and one with a
// name that dsconv uses in other folders.
func notes(t *testing.T, side string) map[string]string {
	t.Helper()
	files := map[string]string{
		"NOTES.md": "mine", "eval/results.txt": "mine", "eval/deep/er.txt": "mine", "fields/notes.txt": "mine", "wids.json.bak": "mine",
		".hidden": "mine", "old/0/x": "mine",
	}
	for name, text := range files {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(side, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(side, name), []byte(text), 0o644))
	}
	must(t, os.Mkdir(filepath.Join(side, "empty"), 0o755))
	return files
}

// usersFiles writes some into the folder of a dataset that has one. Removing the dataset must not remove
// them.
func usersFiles(t *testing.T, dst string) {
	t.Helper()
	side := sidecarOf(t, dst)
	if !durable.IsDir(side) {
		return
	}
	must(t, os.WriteFile(filepath.Join(side, "NOTES.md"), []byte("mine"), 0o644))
	must(t, os.MkdirAll(filepath.Join(side, "eval"), 0o755))
	must(t, os.WriteFile(filepath.Join(side, "eval", "results.txt"), []byte("mine"), 0o644))
}

func notesStay(t *testing.T, side string, files map[string]string, after string) {
	t.Helper()
	for name, text := range files {
		if b, err := os.ReadFile(filepath.Join(side, name)); err != nil || string(b) != text {
			t.Errorf("after %s: %s: %q, %v", after, name, b, err)
		}
	}
	if st, err := os.Stat(filepath.Join(side, "empty")); err != nil || !st.IsDir() {
		t.Errorf("after %s: the empty folder: %v", after, err)
	}
}

// withFolders are DSTs that have a folder in which a user may put files.
func withFolders() []string {
	list := []string{"x.tar", "x-%02d.tfrecord"}
	if cgo {
		list = append(list, "x.lmdb")
	}
	return list
}

// No command that replaces a dataset removes a user's files in its folder.
func TestFilesOfUsersStay(t *testing.T) {
	src, more := samples(t, "12", "16x16"), samples(t, "20", "16x16")
	table := filepath.Join(t.TempDir(), "labels.csv")
	for _, name := range withFolders() {
		t.Run(name, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), name)
			do := func(args ...string) {
				t.Helper()
				if code, said := dsconvSays(args...); code != exitDone {
					t.Fatalf("%v: exit code %d: %s", args, code, said)
				}
			}
			report := reportAside(t)
			do("pack", src, dst, report)
			side := sidecarOf(t, dst)
			files := notes(t, side)
			first := func() string {
				code, said := dsconvSays("ls", dst)
				if code != exitDone {
					t.Fatal(said)
				}
				key, _, _ := strings.Cut(said, "\n")
				return key
			}
			do("add", dst, more, report)
			notesStay(t, side, files, "add")
			do("rm", dst, "--key", first())
			notesStay(t, side, files, "rm")
			must(t, os.WriteFile(table, []byte("key,split\n"+first()+",val\n"), 0o644))
			do("relabel", dst, table)
			notesStay(t, side, files, "relabel")
			do("pack", src, dst, "--force", report)
			notesStay(t, side, files, "pack --force")
			data := dst
			if strings.HasSuffix(name, ".lmdb") {
				data = filepath.Join(dst, "data.mdb")
			} else if strings.Contains(name, "%") {
				data = filepath.Join(filepath.Dir(dst), "x-00.tfrecord")
			}
			b := read(t, data)
			b[len(b)*2/3] ^= 0x10
			must(t, os.WriteFile(data, b, 0o644))
			if code, said := dsconvSays("verify", dst, "--repair", src); code != exitDone {
				t.Fatalf("repair: exit code %d: %s", code, said)
			}
			notesStay(t, side, files, "verify --repair")
			do("verify", dst)
		})
	}
}

// If a user's file has the name of a file of the new version, the error names it before anything is
// changed.
func TestFilesOfUsersAreNotReplaced(t *testing.T) {
	src := samples(t, "12", "16x16")
	dir := t.TempDir()
	dst := filepath.Join(dir, "x-%02d.tfrecord")
	if code, said := dsconvSays("pack", src, dst, reportAside(t), "--shard-count=2"); code != exitDone {
		t.Fatal(said)
	}
	mine := filepath.Join(dir, "x-02.tfrecord")
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	before := formatcheck.Tree(t, dir)
	code, said := dsconvSays("pack", src, dst, "--force", reportAside(t), "--shard-count=4")
	if code != exitFailed || !strings.Contains(said, mine) || !strings.Contains(said, "move it away") {
		t.Errorf("exit code %d: %s", code, said)
	}
	must(t, os.RemoveAll(dst+".partial"))
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), before)
}

// everything returns all files below dir with their bytes, and links with their targets.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			all[path] = "a folder"
		case d.Type().IsRegular():
			all[path] = string(read(t, path))
		default:
			to, err := os.Readlink(path)
			all[path] = "-> " + to
			return err
		}
		return nil
	}))
	return all
}

// If DST.partial is not dsconv's, the error names it and it does not change.
func TestForeignPartial(t *testing.T) {
	src := samples(t, "12", "16x16")
	for _, name := range outputsOf() {
		for what, put := range map[string]func(t *testing.T, partial, elsewhere string){
			"a folder": func(t *testing.T, partial, _ string) {
				must(t, os.MkdirAll(filepath.Join(partial, "data"), 0o755))
				must(t, os.WriteFile(filepath.Join(partial, "data", "thesis.tex"), []byte("mine"), 0o644))
			},
			"a folder with a journal of its own": func(t *testing.T, partial, _ string) {
				must(t, os.MkdirAll(partial, 0o755))
				must(t, os.WriteFile(filepath.Join(partial, "journal"), []byte("Monday: it rained"), 0o644))
			},
			"a link to a folder": func(t *testing.T, partial, elsewhere string) {
				must(t, os.WriteFile(filepath.Join(elsewhere, "thesis.tex"), []byte("mine"), 0o644))
				must(t, os.Symlink(elsewhere, partial))
			},
			"a link to another partial": func(t *testing.T, partial, elsewhere string) {
				interrupt(t, src, filepath.Join(elsewhere, filepath.Base(strings.TrimSuffix(partial, ".partial"))))
				must(t, os.Symlink(filepath.Join(elsewhere, filepath.Base(partial)), partial))
			},
			"a link to nothing": func(t *testing.T, partial, elsewhere string) {
				must(t, os.Symlink(filepath.Join(elsewhere, "nothing"), partial))
			},
			"a file": func(t *testing.T, partial, _ string) { must(t, os.WriteFile(partial, []byte("mine"), 0o644)) },
			"links in a partial of dsconv's": func(t *testing.T, partial, elsewhere string) {
				interrupt(t, src, strings.TrimSuffix(partial, ".partial"))
				victim := filepath.Join(elsewhere, "thesis.tex")
				must(t, os.WriteFile(victim, []byte("mine"), 0o644))
				must(t, os.Remove(filepath.Join(partial, "lock")))
				must(t, os.Symlink(victim, filepath.Join(partial, "lock")))
			},
		} {
			t.Run(name+"/"+what, func(t *testing.T) {
				dir, elsewhere := t.TempDir(), t.TempDir()
				dst := filepath.Join(dir, name)
				put(t, dst+".partial", elsewhere)
				before, beside := everything(t, dir), everything(t, elsewhere)
				for _, args := range [][]string{{"pack", src, dst}, {"pack", src, dst, "--discard"}, {"pack", src, dst, "--force"}} {
					code, said := dsconvSays(append(args, reportAside(t))...)
					if code != exitFailed || !strings.Contains(said, dst+".partial") || !strings.Contains(said, "move it away") {
						t.Errorf("%v: exit code %d: %s", args, code, said)
					}
					if now := everything(t, dir); !maps.Equal(now, before) {
						t.Errorf("%v: %q, was %q", args, slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
					}
					if !maps.Equal(everything(t, elsewhere), beside) {
						t.Errorf("%v: what is elsewhere changed", args)
					}
				}
			})
		}
	}
}

// The same for an edit.
func TestForeignPartialAndEdits(t *testing.T) {
	src := samples(t, "12", "16x16")
	for _, name := range outputsOf() {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			dst := filepath.Join(dir, name)
			if code, said := packTo(t, src, dst); code != exitDone {
				t.Fatal(said)
			}
			must(t, os.Mkdir(dst+".partial", 0o755))
			must(t, os.WriteFile(filepath.Join(dst+".partial", "thesis.tex"), []byte("mine"), 0o644))
			before := everything(t, dir)
			for _, args := range [][]string{
				{"add", dst, src}, {"add", dst, src, "--discard"}, {"rm", dst, "--key", "x"}, {"verify", dst, "--repair", src},
			} {
				code, said := dsconvSays(args...)
				if args[0] == "verify" && code == exitDone {
					continue // nothing was damaged
				}
				if code != exitFailed || !strings.Contains(said, dst+".partial") {
					t.Errorf("%v: exit code %d: %s", args, code, said)
				}
			}
			if now := everything(t, dir); !maps.Equal(now, before) {
				t.Errorf("%q, was %q", slices.Sorted(maps.Keys(now)), slices.Sorted(maps.Keys(before)))
			}
		})
	}
}

// If a planted staging folder or a dataset's list of files names a foreign file, that file stays.
func TestPlantedListsTakeNothing(t *testing.T) {
	src := samples(t, "12", "16x16")
	dir := t.TempDir()
	dst := filepath.Join(dir, "x-%02d.tar")
	mine := []string{"thesis.tex", "x-77.tar", "y.tar"}
	for _, list := range []string{
		`[{"From":"thesis.tex","To":"x-%02d.tar.partial/old/0","Old":true}]`,
		`[{"From":"x-77.tar","To":"x-%02d.tar.partial/old/0","Old":true}]`,
		`[{"From":"x-77.tar","To":"x-%02d.tar.partial/old/0","Old":true,"ID":"file 1 4 0"}]`,
		`[{"From":"y.tar","To":"x-%02d.tar.partial/old/0","Old":true}]`,
		`[{"From":"thesis.tex","To":"x-%02d.tar.partial/data/t"}]`,
		`[{"From":"thesis.tex","To":"x-00.tar"}]`,
		`[{"From":"x-%02d.tar.partial/data/f","To":"x-77.tar"}]`,
		`[{"From":"x-%02d.tar.partial/data/f","To":"thesis.tex"}]`,
		`[{"From":"x-%02d.tar.partial/data/link/thesis.tex","To":"x-00.tar"}]`,
	} {
		t.Run(list, func(t *testing.T) {
			interrupt(t, src, dst)
			defer os.RemoveAll(dst + ".partial")
			for _, name := range mine {
				must(t, os.WriteFile(filepath.Join(dir, name), []byte("mine"), 0o644))
			}
			must(t, os.WriteFile(dst+".partial/publish", []byte(list), 0o644))
			must(t, os.WriteFile(dst+".partial/data/f", []byte("planted"), 0o644))
			must(t, os.Symlink(dir, dst+".partial/data/link"))
			for _, args := range [][]string{{"pack", src, dst}, {"pack", src, dst, "--force"}, {"pack", src, dst, "--discard"}} {
				code, said := dsconvSays(append(args, reportAside(t))...)
				if code == exitDone {
					t.Errorf("%v: %s", args, said)
				}
				for _, name := range mine {
					if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || !bytes.Equal(b, []byte("mine")) {
						t.Errorf("%v: %s: %q, %v", args, name, b, err)
					}
				}
			}
			for _, name := range mine {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
		})
	}
}

// A pack does not replace a user's file that has the name of its report.
func TestForeignReport(t *testing.T) {
	src := samples(t, "10", "16x16")
	dst := filepath.Join(t.TempDir(), "x.tar")
	mine := dst + ".report.csv"
	must(t, os.WriteFile(mine, []byte("year,sales\n"), 0o644))
	for _, args := range [][]string{{"pack", src, dst}, {"pack", src, dst, "--report=" + dst + ".csv"}, {"add", dst, samples(t, "20", "16x16")}} {
		code, said := dsconvSays(args...)
		if refused := len(args) == 3; refused != (code == exitFailed && strings.Contains(said, mine)) {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
		if string(read(t, mine)) != "year,sales\n" {
			t.Fatalf("%v: the file was replaced", args)
		}
	}
	must(t, os.Remove(mine))
	for _, args := range [][]string{{"pack", src, dst, "--force"}, {"pack", src, dst, "--force"}} {
		if code, said := dsconvSays(args...); code != exitDone {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
	}
}

// A link at the path of an output is an error before the work starts. /dev/stdout is allowed, and gets
// only the JSON.
func TestOutputsThatAreNoFiles(t *testing.T) {
	src, dir := samples(t, "10", "16x16"), t.TempDir()
	mine, link, dst := filepath.Join(dir, "mine"), filepath.Join(dir, "link"), filepath.Join(dir, "x.tar")
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	must(t, os.Symlink(mine, link))
	for _, args := range [][]string{{"bench", src, "--json", link}, {"pack", src, dst, "--report", link}} {
		code, said := dsconvSays(args...)
		if code != exitFailed || !strings.Contains(said, link) || strings.Contains(said, "epoch") || string(read(t, mine)) != "mine" {
			t.Errorf("%v: exit code %d: %s", args, code, said)
		}
	}
	if _, err := os.Lstat(dst); err == nil {
		t.Error("it was packed")
	}
	report := filepath.Join(dir, "r.json")
	if code, said := dsconvSays("bench", src, "--rounds", "1", "--quiet", "--json", report); code != exitDone {
		t.Fatal(said)
	}
	if _, err := os.Stat("/dev/stdout"); err != nil {
		t.Skip("no such name here")
	}
	out, err := os.Create(filepath.Join(dir, "out.json"))
	must(t, err)
	defer out.Close()
	cmd := exec.Command(os.Args[0], "bench", "--merge", report, "--json", "/dev/stdout")
	cmd.Env, cmd.Stdout = append(os.Environ(), asProgram+"=1"), out
	must(t, cmd.Run())
	if b := read(t, out.Name()); !json.Valid(b) || len(b) < 100 {
		t.Errorf("%s", b)
	}
}
