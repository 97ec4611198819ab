package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// labelled packs n images with a table of labels. It returns the dataset, and the folder that unpack
// writes.
func labelled(t *testing.T, n, size string) (dataset string, whole map[string]string) {
	t.Helper()
	src := samples(t, n, size)
	var table strings.Builder
	table.WriteString("path,label,note\n")
	for i, path := range imagesOf(t, src) {
		rel, err := filepath.Rel(src, path)
		must(t, err)
		table.WriteString(rel + "," + []string{"a;b", "c"}[i%2] + ",x\n")
	}
	labels := filepath.Join(t.TempDir(), "labels.csv")
	must(t, os.WriteFile(labels, []byte(table.String()), 0o600))
	dataset = filepath.Join(t.TempDir(), "x.tar")
	if code, said := packTo(t, src, dataset, "--labels="+labels); code != exitDone {
		t.Fatal(said)
	}
	dir := filepath.Join(t.TempDir(), "back")
	succeeds(t, "unpack", dataset, dir)
	return dataset, formatcheck.Tree(t, dir)
}

// An unpack that is killed leaves a folder that every command refuses as incomplete, and the same command
// resumes.
func TestKilledWhileUnpacking(t *testing.T) {
	dataset, whole := labelled(t, "200", "64x48")
	r := rand.New(rand.NewPCG(11, 0))
	started := time.Now()
	if p := start(t, []string{os.Args[0], "unpack", dataset, filepath.Join(t.TempDir(), "first")}); p.wait() != exitDone {
		t.Fatal(p.said.String())
	}
	took := time.Since(started)
	dir := filepath.Join(t.TempDir(), "back")
	for range 20 {
		p := start(t, []string{os.Args[0], "unpack", dataset, dir})
		time.Sleep(time.Duration(r.Float64() * float64(took)))
		if !p.kill() {
			if p.code != exitDone {
				t.Fatalf("exit code %d: %s", p.code, p.said.String())
			}
			break
		}
		if refusesUnfinished(t, dir, whole) {
			break // it had finished
		}
	}
	if !refusesUnfinished(t, dir, whole) {
		succeeds(t, "unpack", dataset, dir)
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), whole)
}

// refusesUnfinished checks that a folder is complete, or that packing it is refused. It reports which.
func refusesUnfinished(t *testing.T, dir string, whole map[string]string) (finished bool) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) || err == nil && len(entries) == 0 {
		return false
	}
	must(t, err)
	if !slices.ContainsFunc(entries, isMarker) {
		formatcheck.SameTrees(t, formatcheck.Tree(t, dir), whole)
		return true
	}
	if code, said := packTo(t, dir, filepath.Join(t.TempDir(), "x.tar")); code != exitFailed || !strings.Contains(said, "unfinished") {
		t.Fatalf("an unfinished folder: exit code %d: %s", code, said)
	}
	return false
}

// unfinished writes what an interrupted unpack leaves: the marker and some files.
func unfinished(t *testing.T, dataset string, files map[string]string) (dir string) {
	t.Helper()
	ds, err := dsconv.Formats().Open(dataset)
	must(t, err)
	defer ds.Close()
	p, err := planUnpack(ds, "", new(chosenSamples))
	must(t, err)
	mark, err := json.Marshal(markerContent{p.fingerprint})
	must(t, err)
	dir = t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, markerName), mark, 0o600))
	for name, content := range files {
		to := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(to), 0o755))
		must(t, os.WriteFile(to, []byte(content), 0o600))
	}
	return dir
}

// Files of an interrupted unpack are completed; other files stay, and the error names them.
func TestUnpackResumes(t *testing.T) {
	dataset, whole := labelled(t, "10", "32x24")
	names := make([]string, 0, len(whole))
	for name := range whole {
		if strings.HasSuffix(name, ".jpg") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	a, b := whole[names[0]], whole[names[1]]
	cut := map[string]string{names[0]: a[:100], names[1]: b[:100] + strings.Repeat("\x00", 50), names[2]: whole[names[2]], names[3]: ""}
	for name, files := range map[string]map[string]string{
		"nothing": nil, "cut files": cut, "the table": {"labels.csv": whole["labels.csv"]},
		"a kill's file":  {".labels.json.6550c852.dsconv-new": "{", ".labels.csv.ea91390a.dsconv-new": "path"},
		"no description": {"labels.csv": whole["labels.csv"], names[0]: a},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unfinished(t, dataset, files)
			succeeds(t, "unpack", dataset, dir)
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), whole)
		})
	}
	for name, files := range map[string]map[string]string{
		"another image": {names[0]: "x" + a[1:]}, "a longer file": {names[0]: a + "x"}, "another table": {"labels.csv": "mine"},
		"another description": {"labels.json": "mine"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := unfinished(t, dataset, files)
			code, said := dsconvSays("unpack", dataset, dir)
			if code != exitFailed || !strings.Contains(said, "move it away") || !strings.Contains(said, "not complete") {
				t.Errorf("exit code %d: %s", code, said)
			}
			for name, content := range files {
				if got := string(read(t, filepath.Join(dir, name))); got != content {
					t.Errorf("%s was replaced", name)
				}
			}
			for name := range files {
				must(t, os.Remove(filepath.Join(dir, name)))
			}
			succeeds(t, "unpack", dataset, dir)
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), whole)
		})
	}
	t.Run("another dataset", func(t *testing.T) {
		other, _ := labelled(t, "11", "32x24")
		dir := unfinished(t, dataset, map[string]string{names[0]: a})
		if code, said := dsconvSays("unpack", other, dir); code != exitFailed || !strings.Contains(said, "another dataset") {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
	t.Run("a second process", func(t *testing.T) {
		dir := unfinished(t, dataset, nil)
		f, err := os.OpenFile(filepath.Join(dir, markerName), os.O_RDWR, 0)
		must(t, err)
		defer f.Close()
		must(t, syscall.Flock(int(f.Fd()), syscall.LOCK_EX))
		if code, said := dsconvSays("unpack", dataset, dir); code != exitFailed || !strings.Contains(said, "wait for the other dsconv unpack") {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
	t.Run("interrupted", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		var said bytes.Buffer
		code := run(ctx, []string{"dsconv", "unpack", dataset, filepath.Join(t.TempDir(), "back")}, &console{out: &said, err: &said})
		if said := said.String(); code != exitFailed || !strings.Contains(said, "interrupted\n") || !strings.Contains(said, "repeat the command to resume") {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
	t.Run("a finished one", func(t *testing.T) {
		dir := filepath.Join(t.TempDir(), "back")
		succeeds(t, "unpack", dataset, dir)
		if code, said := dsconvSays("unpack", dataset, dir); code != exitFailed || !strings.Contains(said, "not empty") {
			t.Errorf("exit code %d: %s", code, said)
		}
	})
}

// Every command with --split refuses an unknown split, and lists the dataset's splits.
func TestUnknownSplits(t *testing.T) {
	src := samples(t, "12", "16x16")
	with, without := filepath.Join(t.TempDir(), "x.tar"), filepath.Join(t.TempDir(), "y.tar")
	for dst, split := range map[string]string{with: "train=0.5,val=0.5", without: "none"} {
		if code, said := packTo(t, src, dst, "--split="+split); code != exitDone {
			t.Fatal(said)
		}
	}
	for _, args := range [][]string{
		{"ls"}, {"ls", "--json"}, {"unpack"}, {"bench", "--rounds=1", "--size=8"}, {"train", "--size=8"},
	} {
		for dst, want := range map[string][]string{with: {"nope", "train", "val"}, without: {"nope", "no splits"}} {
			line := append(slices.Clone(args), "--split=nope", dst)
			if args[0] == "unpack" {
				line = append(line, filepath.Join(t.TempDir(), "back"))
			}
			code, said := dsconvSays(line...)
			if code == exitDone {
				t.Errorf("%q: exit code 0: %s", line, said)
			}
			for _, word := range want {
				if !strings.Contains(said, word) {
					t.Errorf("%q: no %q in: %s", line, word, said)
				}
			}
		}
	}
}
