package edit_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func addWith(t *testing.T, path, root string, o edit.AddOptions) *edit.AddReport {
	t.Helper()
	r, err := edit.Add(ctx, dsconv.Formats(), path, openFolder(t, root, folder.Config{}), o)
	if err != nil {
		t.Fatal(err)
	}
	wrote(t, r.Report, err)
	return r
}

func remove(t *testing.T, path string, keys ...string) {
	t.Helper()
	r, err := edit.Remove(ctx, dsconv.Formats(), path, keys, edit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrote(t, r.Report, err)
}

func relabel(t *testing.T, path string, columns []string, rows map[string][]string) {
	t.Helper()
	r, err := edit.Relabel(ctx, dsconv.Formats(), path, edit.Labels{Columns: columns, Rows: rows}, edit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	wrote(t, r.Report, err)
}

// labelOf returns the name of a sample's class and its split, "" if there is no such sample.
func labelOf(t *testing.T, path, key string) string {
	t.Helper()
	d := open(t, path)
	i, err := formats.Find(d, key)
	if err != nil {
		return ""
	}
	in, err := d.Info(i)
	if err != nil {
		t.Fatal(err)
	}
	return d.Meta().Classes()[in.Label] + " " + in.Split
}

func wantLabels(t *testing.T, path string, want map[string]string) {
	t.Helper()
	for key, label := range want {
		if got := labelOf(t, path, key); got != label {
			t.Errorf("%s is %q, want %q", key, got, label)
		}
	}
}

func wantHistory(t *testing.T, path string, want *formats.History, version int) {
	t.Helper()
	m := open(t, path).Meta()
	if fmt.Sprint(m.History) != fmt.Sprint(want) || m.Version != version {
		t.Errorf("version %d remembers %v, want version %d and %v", m.Version, m.History, version, want)
	}
}

// Samples stay removed and relabelled when the source is added again, however its files changed, until
// edits are reset. Then nothing differs from a new pack.
func TestAddKeepsEdits(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 8)
		path := v.pack(t, f.root, folder.Config{})
		wantHistory(t, path, nil, 1)
		remove(t, path, "cat/001", "dog/002")
		relabel(t, path, []string{"label", "split"}, map[string][]string{"cat/003": {"dog", "val"}, "cat/004": {"emu", ""}, "cat/005": {"cat", ""}})
		wantHistory(t, path, &formats.History{Edited: 2, Removed: 2}, 2)
		found := addWith(t, path, f.root, edit.AddOptions{})
		if !found.UpToDate || found.KeptOut != 2 || found.KeptEdits != 2 || found.Unchanged != 14 {
			t.Errorf("added again: %+v", found)
		}
		f.put("cat/003.jpg", 333) // another picture
		f.put("emu/000.jpg", 99)
		found = addWith(t, path, f.root, edit.AddOptions{})
		if found.New != 1 || found.Changed != 1 || found.KeptOut != 2 || found.KeptEdits != 2 {
			t.Errorf("added with changes: %+v", found)
		}
		wantLabels(t, path, map[string]string{
			"cat/001": "", "dog/002": "", "cat/003": "dog val", "cat/004": "emu ", "cat/005": "cat ", "emu/000": "emu ",
		})
		wantHistory(t, path, &formats.History{Edited: 2, Removed: 2}, 2)
		sound(t, open(t, path))
		found = addWith(t, path, f.root, edit.AddOptions{ResetEdits: true})
		if found.New != 2 || found.Relabelled != 2 || found.Reset != 4 {
			t.Errorf("reset: %+v", found)
		}
		wantHistory(t, path, nil, 1)
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}

// Other label fields and columns that were set by hand stay too. Those that were not are updated from
// the table.
func TestAddKeepsEditsOfAllColumns(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 4)
		table := filepath.Join(t.TempDir(), "labels.csv")
		cfg := folder.Config{Labels: table, LabelColumns: []string{"label", "colour"}}
		write := func(colour, note string) {
			var b strings.Builder
			fmt.Fprintln(&b, "path,label,colour,note,sky")
			for _, class := range []string{"cat", "dog"} {
				for i := range 4 {
					fmt.Fprintf(&b, "%s/%03d.jpg,%s,%s,%s%d,%s\n", class, i, class, colour, note, i, note)
				}
			}
			f.must(os.WriteFile(table, []byte(b.String()), 0o644))
		}
		write("red", "n")
		path := v.pack(t, f.root, cfg)
		relabel(t, path, []string{"colour", "note"}, map[string][]string{"cat/001": {"blue", "mine"}})
		write("green", "m")
		f.put("cat/001.jpg", 555)
		found := add(t, path, f.root, cfg)
		if found.Changed != 1 || found.Relabelled != 7 || found.KeptEdits != 1 {
			t.Errorf("found %+v", found)
		}
		d := open(t, path)
		var s formats.Sample
		for i, want := range map[int]string{0: "green [m0 m]", 1: "blue [mine m]"} {
			f.must(d.Read(i, &s))
			k := d.Meta().Schema.Index("colour")
			x, _ := s.Values[k].Int64()
			if got := fmt.Sprint(d.Meta().Schema[k].Classes[x], " ", s.Columns); got != want {
				t.Errorf("sample %d has %s, want %s", i, got, want)
			}
		}
		sound(t, d)
	})
}

// With Prune the samples of a renamed class folder are in the dataset once, without their edits, which are counted. Samples
// from another folder stay.
func TestPrune(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f, other := pets(t, 8), images{t, t.TempDir()}
		for i := range 3 {
			other.put(fmt.Sprintf("fox/%03d.jpg", i), 5000+i)
		}
		path := v.pack(t, f.root, folder.Config{})
		add(t, path, other.root, folder.Config{})
		wantHistory(t, path, &formats.History{Origins: 1}, 2)
		remove(t, path, "cat/001")
		relabel(t, path, []string{"label"}, map[string][]string{"cat/002": {"dog"}})
		f.must(os.Rename(filepath.Join(f.root, "cat"), filepath.Join(f.root, "kitty")))
		found := addWith(t, path, f.root, edit.AddOptions{Prune: true})
		want := edit.Added{New: 8, Unchanged: 8, Absent: 3, Pruned: 7, Reset: 1, NewClasses: []string{"kitty"}}
		if fmt.Sprint(found.Added) != fmt.Sprint(want) {
			t.Errorf("found %+v, want %+v", found.Added, want)
		}
		wantLabels(t, path, map[string]string{
			"cat/000": "", "cat/002": "", "kitty/000": "kitty ", "kitty/001": "kitty ", "kitty/002": "kitty ", "fox/001": "fox ",
		})
		sound(t, open(t, path))
		// What prune dropped may come back, what rm dropped may not.
		f.must(os.Rename(filepath.Join(f.root, "kitty"), filepath.Join(f.root, "cat")))
		if found := addWith(t, path, f.root, edit.AddOptions{Prune: true}); found.New != 7 || found.Pruned != 8 || found.KeptOut != 1 {
			t.Errorf("named back: %+v", found)
		}
		if found := addWith(t, path, other.root, edit.AddOptions{Prune: true}); !found.UpToDate || found.Absent != 15 {
			t.Errorf("the other folder: %+v", found)
		}
	})
}

// A source that lacks most or all of the samples that came from it is an error.
func TestPruneOfAnotherSource(t *testing.T) {
	f, other := pets(t, 8), images{t, t.TempDir()}
	other.put("fox/000.jpg", 1)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	before := formatcheck.Tree(t, filepath.Dir(path))
	refused := func(root, says string) {
		t.Helper()
		_, err := edit.Add(ctx, dsconv.Formats(), path, openFolder(t, root, folder.Config{}), edit.AddOptions{Prune: true})
		if err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "dsconv rm") {
			t.Errorf("%v does not say %q", err, says)
		}
	}
	refused(other.root, "none of the samples")
	for i := range 8 {
		f.must(os.Remove(filepath.Join(f.root, fmt.Sprintf("cat/%03d.jpg", i))))
	}
	f.must(os.Remove(filepath.Join(f.root, "dog/000.jpg")))
	refused(f.root, "lacks 9 of the 16")
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(path)), before)
}

// A merged dataset has the edits of its sources, and records which sample came from which source.
func TestMergeKeepsEdits(t *testing.T) {
	a, b := pets(t, 4), images{t, t.TempDir()}
	for i := range 4 {
		b.put(fmt.Sprintf("bee/%03d.jpg", i), 50+i)
	}
	b.put("cat/001.jpg", 1) // the picture that a has too
	forEach(t, func(t *testing.T, v variant) {
		first, second := v.pack(t, a.root, folder.Config{}), v.pack(t, b.root, folder.Config{})
		remove(t, first, "cat/000", "cat/001")
		relabel(t, second, []string{"label"}, map[string][]string{"bee/002": {"cat"}})
		remove(t, second, "bee/003")
		path := filepath.Join(t.TempDir(), v.name)
		r, err := edit.Merge(ctx, dsconv.Formats(), path, []formats.Dataset{open(t, first).Dataset, open(t, second).Dataset}, edit.MergeOptions{})
		a.must(err)
		wrote(t, r.Report, err)
		wantHistory(t, path, &formats.History{Edited: 1, Removed: 2, Origins: 1}, 2)
		wantLabels(t, path, map[string]string{"cat/000": "", "cat/001": "cat ", "bee/002": "cat ", "bee/003": ""})
		removed, err := open(t, path).Dataset.(formats.Removals).Removed()
		a.must(err)
		keys := []string{removed[0].Key, removed[1].Key}
		if !slices.Equal(keys, []string{"bee/003", "cat/000"}) || removed[0].Source.Path != "bee/003.jpg" || removed[0].Source.Size == 0 {
			t.Errorf("removed: %+v", removed)
		}
		found := addWith(t, path, b.root, edit.AddOptions{Prune: true})
		if !found.UpToDate || found.KeptOut != 1 || found.KeptEdits != 1 {
			t.Errorf("added: %+v", found)
		}
		sound(t, open(t, path))
	})
}

// A dataset that is packed from a dataset with edits has these edits.
func TestPackKeepsEdits(t *testing.T) {
	f := pets(t, 4)
	path := variant{name: "x.tar"}.pack(t, f.root, folder.Config{})
	remove(t, path, "cat/001")
	relabel(t, path, []string{"label"}, map[string][]string{"cat/002": {"dog"}})
	forEach(t, func(t *testing.T, v variant) {
		again := filepath.Join(t.TempDir(), v.name)
		d := open(t, path).Dataset
		p, err := convert.New(ctx, d, formatOf(t, again), again, convert.Options{})
		f.must(err)
		run(t, p)
		wantHistory(t, again, &formats.History{Edited: 1, Removed: 1}, 2)
		if found := addWith(t, again, f.root, edit.AddOptions{}); !found.UpToDate || found.KeptOut != 1 || found.KeptEdits != 1 {
			t.Errorf("added: %+v", found)
		}
	})
}

// A damaged list of removed samples is found; repair reports that it is lost.
func TestRemovedListIsDamaged(t *testing.T) {
	f := pets(t, 4)
	v := variant{name: "x.tar"}
	path := v.pack(t, f.root, folder.Config{})
	remove(t, path, "cat/001")
	list := path + ".dsconv/removed.parquet"
	b, err := os.ReadFile(list)
	f.must(err)
	b[len(b)/2] ^= 1
	f.must(os.WriteFile(list, b, 0o644))
	_, err = edit.Add(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), edit.AddOptions{})
	if !errors.Is(err, formats.ErrDamaged) || !strings.Contains(err.Error(), "removed.parquet") {
		t.Errorf("add: %v", err)
	}
	found, err := edit.Repair(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), edit.RepairOptions{})
	f.must(err)
	wrote(t, found.Report, err)
	if found.Forgotten != 1 {
		t.Errorf("found %+v", found)
	}
	wantHistory(t, path, nil, 1)
	sound(t, open(t, path))
}

// An addition that is stopped after a checkpoint resumes with the edits recorded until then; one
// that would record other edits is refused.
func TestAddResumesWithEdits(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		remove(t, path, "cat/001", "dog/019")
		relabel(t, path, []string{"label"}, map[string][]string{"cat/002": {"dog"}, "dog/018": {"cat"}})
		for i := range 20 {
			f.put(fmt.Sprintf("cow/%03d.jpg", i), 77+i)
		}
		o := edit.AddOptions{Options: edit.Options{Checkpoint: 2000, Workers: 1}}
		stopped, cancel := context.WithCancel(ctx)
		s := stopping{openFolder(t, f.root, folder.Config{}), new(atomic.Int64), func() bool { return hasCheckpoint(path) }, cancel}
		s.left.Store(12)
		if _, err := edit.Add(stopped, dsconv.Formats(), path, s, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped: %v", err)
		}
		o.ResetEdits = true
		if _, err := edit.Add(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), o); !errors.Is(err, formats.ErrPartial) {
			t.Errorf("edits are reset over an unfinished addition: %v", err)
		}
		o.ResetEdits = false
		r, err := edit.Add(ctx, dsconv.Formats(), path, openFolder(t, f.root, folder.Config{}), o)
		f.must(err)
		if r.Run.Resumed == 0 {
			t.Error("it started over")
		}
		wantHistory(t, path, &formats.History{Edited: 2, Removed: 2}, 2)
		wantLabels(t, path, map[string]string{"cat/001": "", "cat/002": "dog ", "dog/018": "cat ", "dog/019": "", "cow/007": "cow "})
		if found := addWith(t, path, f.root, edit.AddOptions{}); !found.UpToDate || found.KeptEdits != 2 || found.KeptOut != 2 {
			t.Errorf("added again: %+v", found)
		}
	})
}
