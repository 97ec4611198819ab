package edit_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// Adding a folder gives the same samples as packing it, however its files changed. Classes keep their
// indices, and shards without changes are not written.
func TestAdd(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		before := formattest.Tree(t, filepath.Dir(path))
		f.put("ant/000.jpg", 7) // sorts before all other classes
		f.put("cat/zzz.jpg", 8)
		f.put("dog/0000.jpg", 9)
		f.touch("cat/001.jpg", time.Now())
		found := add(t, path, f.root, folder.Config{})
		want := edit.Added{New: 3, Unchanged: 40, NewClasses: []string{"ant"}}
		if fmt.Sprint(*found) != fmt.Sprint(want) {
			t.Errorf("found %+v, want %+v", *found, want)
		}
		d := target(t, path)
		if got := d.Meta().Classes(); !slices.Equal(got, []string{"cat", "dog", "ant"}) {
			t.Errorf("classes %q", got)
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
		if v.shards > 0 {
			stays(t, path, before, v.shards, 1)
		}
		if found := add(t, path, f.root, folder.Config{}); !found.Nothing() {
			t.Errorf("added twice: %+v", found)
		}
		f.put("cat/002.jpg", 555) // another picture
		f.must(os.Rename(filepath.Join(f.root, "cat/003.jpg"), filepath.Join(f.root, "ant/003.jpg")))
		if found := add(t, path, f.root, folder.Config{}); found.New != 1 || found.Changed != 1 || found.Absent != 1 {
			t.Errorf("found %+v", found)
		}
		f.must(os.Rename(filepath.Join(f.root, "ant/003.jpg"), filepath.Join(f.root, "cat/003.jpg")))
		f.put("ant/003.jpg", 3)
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}

// stays checks that the first n files are unchanged and that there are more new ones.
func stays(t *testing.T, path string, before map[string]string, n, more int) {
	t.Helper()
	after := formattest.Tree(t, filepath.Dir(path))
	for i := range n + more {
		name := fmt.Sprintf(filepath.Base(path), i)
		if i < n && after[name] != before[name] {
			t.Errorf("%s is not what it was", name)
		}
		if _, ok := after[name]; !ok {
			t.Errorf("there is no %s", name)
		}
	}
	if _, ok := after[fmt.Sprintf(filepath.Base(path), n+more)]; ok {
		t.Errorf("there are more than %d files", n+more)
	}
}

func TestRemove(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		if _, err := edit.Remove(target(t, path), []string{"cat/001", "cat/none"}, convert.Options{}); err == nil {
			t.Error("an unknown key is removed")
		}
		keys := []string{"cat/001", "dog/007", "dog/008"}
		p, err := edit.Remove(target(t, path), keys, convert.Options{})
		if err != nil {
			t.Fatal(err)
		}
		run(t, p)
		for _, key := range keys {
			f.must(os.Remove(filepath.Join(f.root, key+".jpg")))
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}

// All samples of a shard can be removed; the others are read as before.
func TestRemoveAShard(t *testing.T) {
	f := pets(t, 6)
	v := variant{name: "x-%03d.tar", shards: 3}
	path := v.pack(t, f.root, folder.Config{})
	d := target(t, path)
	placer := d.Dataset.(interface{ StorageOrder() []int32 })
	var keys []string
	for _, i := range placer.StorageOrder()[4:8] { // the second of three
		in, err := d.Info(int(i))
		f.must(err)
		keys = append(keys, in.Key)
	}
	p, err := edit.Remove(d, keys, convert.Options{})
	f.must(err)
	if p.Kept() != 2 {
		t.Errorf("%d files stay, want 2", p.Kept())
	}
	run(t, p)
	for _, key := range keys {
		f.must(os.Remove(filepath.Join(f.root, key+".jpg")))
	}
	same(t, path, v.pack(t, f.root, folder.Config{}))
}

func TestRelabel(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		table := filepath.Join(t.TempDir(), "labels.csv")
		cfg := folder.Config{Labels: table}
		labels := func(of map[string]string) {
			var b strings.Builder
			fmt.Fprintln(&b, "path,label,note")
			for _, class := range []string{"cat", "dog"} {
				for i := range 20 {
					name := fmt.Sprintf("%s/%03d.jpg", class, i)
					label := class
					if l, ok := of[name]; ok {
						label = l
					}
					fmt.Fprintf(&b, "%s,%s,n%d\n", name, label, i)
				}
			}
			f.must(os.WriteFile(table, []byte(b.String()), 0o644))
		}
		labels(nil)
		path := v.pack(t, f.root, cfg)
		now := map[string]string{"cat/003.jpg": "dog", "cat/004.jpg": "axolotl", "dog/005.jpg": ""}
		rows := map[string][]string{"dog/006.jpg": {"dog"}}
		for name, label := range now {
			rows[name] = []string{label}
		}
		p, found, err := edit.Relabel(target(t, path), edit.Labels{ByPath: true, Columns: []string{"label"}, Rows: rows}, convert.Options{})
		f.must(err)
		if found.Changed != 3 || found.Unchanged != 1 || !slices.Equal(found.NewClasses, []string{"axolotl"}) {
			t.Errorf("found %+v", found)
		}
		if strings.HasSuffix(path, ".lmdb") && p.Kept() != 1 {
			t.Error("the LMDB is written again")
		}
		run(t, p)
		labels(now)
		same(t, path, v.pack(t, f.root, cfg))
		if got := target(t, path).Meta().Classes(); !slices.Equal(got, []string{"cat", "dog", "axolotl"}) {
			t.Errorf("classes %q", got)
		}
		// A table that changed does the same by way of add.
		now["dog/009.jpg"] = "bee"
		labels(now)
		if found := add(t, path, f.root, cfg); found.Relabelled != 1 || found.Unchanged != 39 {
			t.Errorf("found %+v", found)
		}
		same(t, path, v.pack(t, f.root, cfg))
		_, _, err = edit.Relabel(target(t, path), edit.Labels{Columns: []string{"label"}, Rows: map[string][]string{"no/such": {"x"}}}, convert.Options{})
		if err == nil || !strings.Contains(err.Error(), "no/such") {
			t.Errorf("a row of no sample: %v", err)
		}
	})
}

func TestMerge(t *testing.T) {
	a, b, both := pets(t, 10), images{t, t.TempDir()}, images{t, t.TempDir()}
	for i := range 10 {
		b.put(fmt.Sprintf("bee/%03d.jpg", i), 50+i)
		both.put(fmt.Sprintf("bee/%03d.jpg", i), 50+i)
		both.put(fmt.Sprintf("cat/%03d.jpg", i), i)
		both.put(fmt.Sprintf("dog/%03d.jpg", i), 1000+i)
	}
	b.put("cat/005.jpg", 5) // the same picture
	forEach(t, func(t *testing.T, v variant) {
		first, second := v.pack(t, a.root, folder.Config{}), v.pack(t, b.root, folder.Config{})
		path := filepath.Join(t.TempDir(), v.name)
		sources := []formats.Dataset{target(t, first), target(t, second)}
		p, found, err := edit.Merge(sources, []string{first, second}, formatOf(t, path), path, convert.Options{OnError: convert.Fail})
		both.must(err)
		if found.Twice != 1 || found.Samples[0] != 20 || found.Samples[1] != 10 {
			t.Errorf("found %+v", found)
		}
		run(t, p)
		whole := v.pack(t, both.root, folder.Config{})
		same(t, path, whole)
		both.put("cat/999.jpg", 999)
		defer func() { both.must(os.Remove(filepath.Join(both.root, "cat/999.jpg"))) }()
		add(t, path, both.root, folder.Config{})
		same(t, path, v.pack(t, both.root, folder.Config{}))
	})
	other := images{t, t.TempDir()}
	other.put("cat/005.jpg", 6)
	v := variant{name: "x.tar"}
	first, second := v.pack(t, a.root, folder.Config{}), v.pack(t, other.root, folder.Config{})
	path := filepath.Join(t.TempDir(), v.name)
	_, _, err := edit.Merge([]formats.Dataset{target(t, first), target(t, second)}, []string{"A", "B"}, formatOf(t, path), path, convert.Options{})
	if err == nil || !strings.Contains(err.Error(), "cat/005") {
		t.Errorf("two samples of one key: %v", err)
	}
}

// stopping cancels when the n-th sample is read and until allows it.
type stopping struct {
	formats.Dataset
	left   *atomic.Int64
	until  func() bool
	cancel context.CancelFunc
}

// hasCheckpoint reports whether the unfinished change of the dataset at path can be resumed from
// somewhere: the journal has more than its first record.
func hasCheckpoint(path string) bool {
	journal, err := os.ReadFile(path + sidecar.PartialSuffix + "/journal")
	return err == nil && len(journal) > 4 && len(journal) > 8+int(binary.LittleEndian.Uint32(journal))
}

func (s stopping) Read(i int, smp *formats.Sample) error {
	if s.left.Add(-1) == 0 {
		for !s.until() {
			time.Sleep(time.Millisecond)
		}
		s.cancel()
	}
	return s.Dataset.Read(i, smp)
}

// An addition that is stopped leaves the dataset unchanged; the same addition resumes, and
// another one is refused.
func TestAddResumes(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		old := formattest.Tree(t, filepath.Dir(path))
		for i := range 20 {
			f.put(fmt.Sprintf("emu/%03d.jpg", i), 77+i)
		}
		o := edit.AddOptions{Options: convert.Options{Checkpoint: 2000, Workers: 1}}
		src := openFolder(t, f.root, folder.Config{})
		for _, after := range []int64{12, 6} {
			ctx, cancel := context.WithCancel(context.Background())
			s := stopping{src, new(atomic.Int64), func() bool { return hasCheckpoint(path) }, cancel}
			s.left.Store(after)
			p, _, err := edit.Add(ctx, target(t, path), s, o)
			f.must(err)
			if _, err := p.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Fatalf("stopped: %v", err)
			}
			now := formattest.Tree(t, filepath.Dir(path))
			for name, content := range old {
				if now[name] != content {
					t.Fatalf("%s is not what it was", name)
				}
			}
		}
		in, err := target(t, path).Info(0)
		f.must(err)
		p, err := edit.Remove(target(t, path), []string{in.Key}, o.Options)
		f.must(err)
		if _, err := p.Run(context.Background()); !errors.Is(err, formats.ErrPartial) {
			t.Errorf("something else is done over an unfinished addition: %v", err)
		}
		p, _, err = edit.Add(context.Background(), target(t, path), src, o)
		f.must(err)
		r, err := p.Run(context.Background())
		f.must(err)
		if r.Resumed == 0 {
			t.Error("it started over")
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}

// A split name that only an earlier version allowed does not prevent edits of other samples. If it is
// an error, the error's advice works.
func TestSplitsOfEarlierVersions(t *testing.T) {
	f := pets(t, 2)
	packed := target(t, variant{name: "x.tar"}.pack(t, f.root, folder.Config{}))
	path := filepath.Join(t.TempDir(), "x.tar")
	meta := *packed.Meta()
	meta.Recipe = maps.Clone(meta.Recipe)
	meta.Recipe["split"] = "train=0.9,val=0.1"
	w, err := packed.Format.Create(path, meta, formats.CreateOptions{})
	f.must(err)
	var s formats.Sample
	for i := range packed.Len() {
		f.must(packed.Read(i, &s))
		s.Split = "part/one"
		f.must(w.Write(&s))
	}
	f.must(w.Commit())
	f.touch("cat/001.jpg", time.Now())
	f.put("cat/002.jpg", 77)
	if found := add(t, path, f.root, folder.Config{}); found.New != 1 || found.Unchanged != 4 {
		t.Errorf("found %+v", found)
	}

	both := filepath.Join(t.TempDir(), "both.tar")
	merge := func() (*convert.Plan, error) {
		p, _, err := edit.Merge([]formats.Dataset{target(t, path)}, []string{path}, formatOf(t, both), both, convert.Options{OnError: convert.Fail})
		return p, err
	}
	if _, err := merge(); !errors.Is(err, formats.ErrSplit) || !strings.Contains(err.Error(), "dsconv relabel") || strings.Contains(err.Error(), "--split") {
		t.Errorf("merge: %v", err)
	}
	d := target(t, path)
	rows := map[string][]string{}
	for i := range d.Len() {
		in, err := d.Info(i)
		f.must(err)
		rows[in.Key] = []string{"one"}
	}
	p, _, err := edit.Relabel(d, edit.Labels{Columns: []string{"split"}, Rows: rows}, convert.Options{})
	f.must(err)
	run(t, p)
	p, err = merge()
	f.must(err)
	run(t, p)
}
