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

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

var ctx = context.Background()

// Adding a folder gives the same samples as packing it, however its files changed. Classes keep their
// indices, and shards without changes are not written.
func TestAdd(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		before := formatcheck.Tree(t, filepath.Dir(path))
		f.put("ant/000.jpg", 7) // sorts before all other classes
		f.put("cat/zzz.jpg", 8)
		f.put("dog/0000.jpg", 9)
		f.touch("cat/001.jpg", time.Now())
		found := add(t, path, f.root, folder.Config{})
		want := edit.Added{New: 3, Unchanged: 40, NewClasses: []string{"ant"}}
		if fmt.Sprint(found.Added) != fmt.Sprint(want) {
			t.Errorf("found %+v, want %+v", found.Added, want)
		}
		d := open(t, path)
		if got := d.Meta().Classes(); !slices.Equal(got, []string{"cat", "dog", "ant"}) {
			t.Errorf("classes %q", got)
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
		if v.shards > 0 {
			stays(t, path, before, v.shards, 1)
		}
		if found := add(t, path, f.root, folder.Config{}); !found.UpToDate {
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
	after := formatcheck.Tree(t, filepath.Dir(path))
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
		if _, err := edit.Remove(ctx, dsconv.Formats(), path, []string{"cat/001", "cat/none"}, edit.Options{}); !errors.Is(err, formats.ErrKey) {
			t.Errorf("an unknown key is removed: %v", err)
		}
		keys := []string{"cat/001", "dog/007", "dog/008"}
		remove(t, path, append(keys, keys[0])...)
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
	d := open(t, path)
	var keys []string
	f.must(d.Dataset.(formats.StorageOrdered).EachStored(func(i int32) error {
		in, err := d.Info(int(i))
		keys = append(keys, in.Key)
		return err
	}))
	keys = keys[4:8] // the second of three
	r, err := edit.Remove(ctx, dsconv.Formats(), path, keys, edit.Options{})
	f.must(err)
	if r.FilesKept != 2 || r.Files != 3 || r.Removed != 4 || r.Samples != 8 {
		t.Errorf("%+v", r)
	}
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
		found, err := edit.Relabel(ctx, dsconv.Formats(), path, edit.Labels{ByPath: true, Columns: []string{"label"}, Rows: rows}, edit.Options{})
		f.must(err)
		wrote(t, found.Report, err)
		if found.Changed != 3 || found.Unchanged != 1 || !slices.Equal(found.NewClasses, []string{"axolotl"}) {
			t.Errorf("found %+v", found)
		}
		if strings.HasSuffix(path, ".lmdb") && found.FilesKept != 1 {
			t.Error("the LMDB is written again")
		}
		labels(now)
		same(t, path, v.pack(t, f.root, cfg))
		if got := open(t, path).Meta().Classes(); !slices.Equal(got, []string{"cat", "dog", "axolotl"}) {
			t.Errorf("classes %q", got)
		}
		// A table that changed does the same by way of add.
		now["dog/009.jpg"] = "bee"
		labels(now)
		if found := add(t, path, f.root, cfg); found.Relabelled != 1 || found.Unchanged != 39 {
			t.Errorf("found %+v", found)
		}
		same(t, path, v.pack(t, f.root, cfg))
		_, err = edit.Relabel(ctx, dsconv.Formats(), path, edit.Labels{Columns: []string{"label"}, Rows: map[string][]string{"no/such": {"x"}}}, edit.Options{})
		if !errors.Is(err, formats.ErrKey) || !strings.Contains(err.Error(), "no/such") {
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
		sources := []formats.Dataset{open(t, first).Dataset, open(t, second).Dataset}
		found, err := edit.Merge(ctx, dsconv.Formats(), path, sources, edit.MergeOptions{})
		both.must(err)
		if found.Twice != 1 || found.PerSource[0] != 20 || found.PerSource[1] != 10 || found.Samples != 30 {
			t.Errorf("found %+v", found)
		}
		wrote(t, found.Report, err)
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
	_, err := edit.Merge(ctx, dsconv.Formats(), path, []formats.Dataset{open(t, first).Dataset, open(t, second).Dataset}, edit.MergeOptions{})
	if !errors.Is(err, formats.ErrKey) || !strings.Contains(err.Error(), "source 1 and source 2 both have the key \"cat/005\"") {
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
		old := formatcheck.Tree(t, filepath.Dir(path))
		for i := range 20 {
			f.put(fmt.Sprintf("emu/%03d.jpg", i), 77+i)
		}
		o := edit.AddOptions{Options: edit.Options{Checkpoint: 2000, Workers: 1}}
		src := openFolder(t, f.root, folder.Config{})
		for _, after := range []int64{12, 6} {
			ctx, cancel := context.WithCancel(ctx)
			s := stopping{src, new(atomic.Int64), func() bool { return hasCheckpoint(path) }, cancel}
			s.left.Store(after)
			r, err := edit.Add(ctx, dsconv.Formats(), path, s, o)
			if !errors.Is(err, context.Canceled) || r == nil || r.Published || r.Samples != 40 {
				t.Fatalf("stopped: %+v, %v", r, err)
			}
			now := formatcheck.Tree(t, filepath.Dir(path))
			for name, content := range old {
				if now[name] != content {
					t.Fatalf("%s is not what it was", name)
				}
			}
		}
		in, err := open(t, path).Info(0)
		f.must(err)
		if _, err := edit.Remove(ctx, dsconv.Formats(), path, []string{in.Key}, o.Options); !errors.Is(err, formats.ErrPartial) {
			t.Errorf("something else is done over an unfinished addition: %v", err)
		}
		r, err := edit.Add(ctx, dsconv.Formats(), path, src, o)
		f.must(err)
		if r.Run.Resumed == 0 {
			t.Error("it started over")
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}

// A split name that only an earlier version allowed does not prevent edits of other samples. If it is
// an error, the error's advice works.
func TestSplitsOfEarlierVersions(t *testing.T) {
	f := pets(t, 2)
	packed := open(t, variant{name: "x.tar"}.pack(t, f.root, folder.Config{}))
	path := filepath.Join(t.TempDir(), "x.tar")
	meta := *packed.Meta()
	meta.Recipe = maps.Clone(meta.Recipe)
	meta.Recipe["split"] = "train=0.9,val=0.1"
	w, err := formatOf(t, path).Create(path, meta, formats.CreateOptions{})
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
	merge := func() error {
		_, err := edit.Merge(ctx, dsconv.Formats(), both, []formats.Dataset{open(t, path).Dataset}, edit.MergeOptions{Options: edit.Options{DryRun: true}})
		return err
	}
	if err := merge(); !errors.Is(err, formats.ErrSplit) || !strings.Contains(err.Error(), "dsconv relabel") || strings.Contains(err.Error(), "--split") {
		t.Errorf("merge: %v", err)
	}
	d := open(t, path)
	rows := map[string][]string{}
	for i := range d.Len() {
		in, err := d.Info(i)
		f.must(err)
		rows[in.Key] = []string{"one"}
	}
	relabel(t, path, []string{"split"}, rows)
	f.must(merge())
}
