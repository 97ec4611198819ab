package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// oldEdits are commands that change a dataset; SRC is what it was packed from, MORE a folder of one more
// image, and TABLE has another label for a sample.
var oldEdits = map[string][]string{
	"verify":    {"verify", "DST"},
	"add":       {"add", "DST", "MORE", "--quiet"},
	"relabel":   {"relabel", "DST", "TABLE", "--quiet"},
	"rm":        {"rm", "DST", "--key", "KEY", "--quiet"},
	"repair":    {"verify", "DST", "--repair", "SRC"},
	"pack":      {"pack", "SRC", "DST", "--force", "--encode", "png", "--quiet"},
	"two edits": {"rm", "DST", "--key", "KEY", "--quiet"}, // then add
}

// An earlier dsconv, whose program DSCONV_OLD names, edits a dataset that this one wrote. Either it refuses,
// or this dsconv then reads what the edit left.
func TestEditsByAnOldProgram(t *testing.T) {
	old := os.Getenv("DSCONV_OLD")
	if old == "" {
		t.Skip("DSCONV_OLD names no program")
	}
	if !cgo {
		t.Skip("LMDB and HDF5 are read, not written")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := samples(t, "24", "48x32")
	for _, name := range []string{"x.lmdb", "x.h5", "x.tar", "x-%d.tfrecord"} {
		for edit := range oldEdits {
			t.Run(name+"/"+edit, func(t *testing.T) {
				byOld, byNew := newEdited(t, src, name, edit), newEdited(t, src, name, edit)
				before := formatcheck.Tree(t, filepath.Dir(byOld.path))
				if said, err := byOld.do(func(args []string) (string, error) {
					out, err := exec.Command(old, args...).CombinedOutput()
					return string(out), err
				}); err != nil {
					t.Logf("refused: %s", said)
					if !strings.Contains(said, "newer dsconv") {
						t.Errorf("%v: %s", err, said)
					}
					formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(byOld.path)), before)
					return
				}
				_, _ = byNew.do(func(args []string) (string, error) { return succeeds(t, args...), nil })
				byOld.equals(t, byNew)
				// Again, by this dsconv, on what the old one left.
				for _, d := range []*edited{byOld, byNew} {
					succeeds(t, "rm", d.path, "--key", described(t, d.path).Samples[7].Key, "--quiet")
				}
				byOld.equals(t, byNew)
			})
		}
	}
}

// edited is a dataset and what an edit of it needs.
type edited struct {
	path     string
	commands [][]string
}

func newEdited(t *testing.T, src, name, edit string) *edited {
	t.Helper()
	dir := t.TempDir()
	d := &edited{path: filepath.Join(dir, name)}
	if code, said := packTo(t, src, d.path, "--quiet"); code != exitDone {
		t.Fatal(said)
	}
	known := described(t, d.path).Samples
	more, table := filepath.Join(t.TempDir(), "more"), filepath.Join(t.TempDir(), "labels.csv")
	class := filepath.Dir(known[0].Source)
	must(t, os.MkdirAll(filepath.Join(more, class), 0o755))
	must(t, os.WriteFile(filepath.Join(more, class, "one-more.jpg"), read(t, filepath.Join(src, known[0].Source)), 0o644))
	must(t, os.WriteFile(table, []byte("key,label\n\""+known[5].Key+"\",new class\n"), 0o644))
	fill := strings.NewReplacer("DST", d.path, "SRC", src, "MORE", more, "TABLE", table, "KEY", known[2].Key)
	edits := []string{edit}
	if edit == "two edits" {
		edits = append(edits, "add")
	}
	for _, e := range edits {
		args := slices.Clone(oldEdits[e])
		for k := range args {
			args[k] = fill.Replace(args[k])
		}
		if args[0] == "add" || args[0] == "pack" {
			args = append(args, "--report="+filepath.Join(t.TempDir(), "report.csv"))
		}
		d.commands = append(d.commands, args)
	}
	if edit == "repair" {
		for file, content := range formatcheck.Tree(t, dir) {
			if slices.Contains([]string{"data.mdb", "x.h5", "x.tar", "x-0.tfrecord"}, filepath.Base(file)) {
				poke(t, filepath.Join(dir, file), len(content)/2, content[len(content)/2]^1)
			}
		}
	}
	return d
}

func (d *edited) do(run func(args []string) (string, error)) (said string, err error) {
	for _, args := range d.commands {
		if said, err = run(args); err != nil {
			return said, err
		}
	}
	return said, nil
}

// equals checks that all commands find the same in both datasets.
func (d *edited) equals(t *testing.T, want *edited) {
	t.Helper()
	got, wanted := described(t, d.path), described(t, want.path)
	if !reflect.DeepEqual(got.Samples, wanted.Samples) || !reflect.DeepEqual(got.Schema, wanted.Schema) {
		t.Errorf("it reads as\n%+v\nwanted\n%+v", got, wanted)
	}
	succeeds(t, "verify", d.path)
	succeeds(t, "verify", d.path, "--quick")
	for _, args := range [][]string{{"ls", "--long"}, {"ls", "--json"}, {"cat"}} {
		of := func(d *edited) string {
			args := append(slices.Clone(args[:1]), append([]string{d.path}, args[1:]...)...)
			if args[0] == "cat" {
				args = append(args, got.Samples[4].Key)
			}
			return succeeds(t, args...)
		}
		if a, b := of(d), of(want); a != b {
			t.Errorf("%v prints\n%s\nwanted\n%s", args, a, b)
		}
	}
	back, wantedBack := t.TempDir(), t.TempDir()
	succeeds(t, "unpack", d.path, back)
	succeeds(t, "unpack", want.path, wantedBack)
	formatcheck.SameTrees(t, formatcheck.Tree(t, back), formatcheck.Tree(t, wantedBack))
	succeeds(t, "bench", d.path, "--rounds", "1", "--batch", "4", "--augment", "rrc:16")
}
