package edit_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/all"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/formattest"
	"github.com/dsconv/dsconv/preprocess"
)

// images is a folder of pictures that the tests change.
type images struct {
	t    *testing.T
	root string
}

// put writes a picture that seed decides, an hour ago.
func (f images) put(name string, seed int) {
	f.t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, 24+seed%5, 16+seed%7))
	for i := range m.Pix {
		m.Pix[i] = uint8(i * (seed + 3) / 2)
	}
	m.Set(0, 0, color.White)
	var b bytes.Buffer
	f.must(jpeg.Encode(&b, m, nil))
	path := filepath.Join(f.root, name)
	f.must(os.MkdirAll(filepath.Dir(path), 0o755))
	f.must(os.WriteFile(path, b.Bytes(), 0o644))
	f.touch(name, time.Unix(1_700_000_000+int64(seed), 0))
}

func (f images) touch(name string, at time.Time) {
	f.t.Helper()
	f.must(os.Chtimes(filepath.Join(f.root, name), at, at))
}

func (f images) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// pets makes a folder of two classes with n pictures each.
func pets(t *testing.T, n int) images {
	f := images{t, t.TempDir()}
	for i := range n {
		f.put(fmt.Sprintf("cat/%03d.jpg", i), i)
		f.put(fmt.Sprintf("dog/%03d.jpg", i), 1000+i)
	}
	return f
}

// variant is a kind of dataset that is edited.
type variant struct {
	name   string // of DST
	recipe preprocess.Recipe
	shards int
}

func variants(t *testing.T) []variant {
	small, err := preprocess.ParseResize("exact:12x10")
	if err != nil {
		t.Fatal(err)
	}
	raw := preprocess.Recipe{Resize: small, Encode: preprocess.Encode{Encoding: formats.Raw}}
	q := preprocess.Recipe{Resize: small, Encode: preprocess.Encode{Encoding: formats.JPEG, Quality: 80}}
	list := []variant{
		{name: "x.tar"},
		{name: "x.tar.zst", recipe: q},
		{name: "x-%03d.tar", shards: 4},
		{name: "x-%03d.tfrecord", recipe: q, shards: 4},
		{name: "y-%03d.tar", recipe: raw, shards: 3},
	}
	if writable("x.lmdb") {
		list = append(list, variant{name: "x.lmdb"}, variant{name: "y.lmdb", recipe: raw},
			variant{name: "x.h5", recipe: raw}, variant{name: "y.h5", recipe: q})
	}
	return list
}

// writable says whether this build writes the format of that name.
func writable(name string) bool {
	f, err := all.Formats().ByPath(name)
	if err != nil {
		return false
	}
	w, ok := f.(formats.WritableFormat)
	if !ok {
		return false
	}
	dir, err := os.MkdirTemp("", "dsconv")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	m := formats.Meta{Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
	x, err := w.Create(filepath.Join(dir, name), m, formats.CreateOptions{})
	return err == nil && x.Close() == nil
}

func forEach(t *testing.T, test func(t *testing.T, v variant)) {
	for _, v := range variants(t) {
		t.Run(v.name+" "+v.recipe.Encode.String(), func(t *testing.T) { test(t, v) })
	}
}

func formatOf(t *testing.T, path string) formats.WritableFormat {
	t.Helper()
	f, err := all.Formats().ByPath(path)
	if err != nil {
		t.Fatal(err)
	}
	return f.(formats.WritableFormat)
}

// pack packs the folder as the variant says and gives the dataset's path.
func (v variant) pack(t *testing.T, root string, cfg folder.Config) string {
	t.Helper()
	src := openFolder(t, root, cfg)
	splits, err := convert.Split{}.Assign(src)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), v.name)
	o := convert.Options{Recipe: v.recipe}
	o.Shards.Count = v.shards
	p, err := convert.New(src, splits, nil, formatOf(t, path), path, o)
	if err != nil {
		t.Fatal(err)
	}
	run(t, p)
	return path
}

func openFolder(t *testing.T, root string, cfg folder.Config) formats.Dataset {
	t.Helper()
	src, err := folder.Open(context.Background(), root, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func run(t *testing.T, p *convert.Plan) {
	t.Helper()
	r, err := p.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Skipped) > 0 {
		t.Fatalf("skipped: %+v", r.Skipped)
	}
}

func target(t *testing.T, path string) *edit.Target {
	t.Helper()
	d, err := edit.Open(formatOf(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d
}

func add(t *testing.T, path, root string, cfg folder.Config) *edit.Added {
	t.Helper()
	p, found, err := edit.Add(context.Background(), target(t, path), openFolder(t, root, cfg), edit.AddOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if p != nil {
		run(t, p)
	}
	return found
}

// same wants nothing to differ between two datasets, and the first to be sound.
func same(t *testing.T, path, other string) {
	t.Helper()
	a, b := target(t, path), target(t, other)
	var lines []string
	s, err := diff.Compare(context.Background(), a, b, 0, func(c diff.Change) { lines = append(lines, fmt.Sprintf("%+v", c)) })
	if err != nil {
		t.Fatal(err)
	}
	if !s.Empty() {
		t.Errorf("%s differs from %s:\n%s", path, other, strings.Join(lines, "\n"))
	}
	sound(t, a)
}

// sound wants every block and every sample to check, and keys in order.
func sound(t *testing.T, d *edit.Target) {
	t.Helper()
	report := func(x formats.Damage) { t.Errorf("%s: %+v", d.Path, x) }
	if err := d.Dataset.(formats.Checker).Check(context.Background(), formats.Part{}, 2, report); err != nil {
		t.Error(err)
	}
	if err := d.Dataset.(formats.Checker).CheckQuick(context.Background(), report); err != nil {
		t.Error(err)
	}
	before := ""
	var s formats.Sample
	for i := range d.Len() {
		if err := d.Read(i, &s); err != nil {
			t.Fatal(err)
		}
		if s.Key <= before {
			t.Errorf("key %q after %q", s.Key, before)
		}
		before = s.Key
	}
	if _, err := os.Stat(d.Path + ".partial"); err == nil {
		t.Errorf("%s.partial is left", d.Path)
	}
}

// An added folder gives what a fresh pack gives, whatever became of its files; classes keep
// their indices, and shards that nothing changed in are not touched.
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

// stays wants the first n files to be what they were and more new ones behind them.
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

// All samples of one shard can go: what is left is read as before.
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
			t.Error("the LMDB is written anew")
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
		p, found, err := edit.Merge(sources, []string{first, second}, formatOf(t, path), path, convert.Options{Fail: true})
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

// Damage in what stays is not written anew under a fresh checksum.
func TestDamageIsNotCopied(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		rot(t, largest(t, filepath.Dir(path)))
		d := target(t, path)
		var keys []string
		for i := range d.Len() / 2 {
			in, err := d.Info(2 * i)
			f.must(err)
			keys = append(keys, in.Key)
		}
		p, err := edit.Remove(d, keys, convert.Options{})
		f.must(err)
		if _, err := p.Run(context.Background()); !errors.Is(err, formats.ErrDamaged) {
			t.Errorf("damaged samples were written anew: %v", err)
		}
		f.must(d.Close())
	})
}

// largest is the data file with most bytes.
func largest(t *testing.T, dir string) string {
	t.Helper()
	name, size := "", 0
	for n, content := range formattest.Tree(t, dir) {
		if len(content) > size && !strings.Contains(n, "manifest") {
			name, size = n, len(content)
		}
	}
	return filepath.Join(dir, name)
}

// rot flips bits in the images that a file holds.
func rot(t *testing.T, file string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := len(b) / 3; at < len(b)/2; at += 97 {
		b[at] ^= 0x10
	}
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
}

// Repair gives back the bytes that were there, from the folder and from another dataset.
func TestRepair(t *testing.T) {
	forEach(t, func(t *testing.T, v variant) {
		f := pets(t, 20)
		path := v.pack(t, f.root, folder.Config{})
		before := formattest.Tree(t, filepath.Dir(path))
		f.put("cat/001.jpg", 4711) // not what it was
		backup := filepath.Join(t.TempDir(), "backup-%03d.tar")
		p, _, err := edit.Merge([]formats.Dataset{target(t, path)}, []string{"A"}, formatOf(t, backup), backup, convert.Options{})
		f.must(err)
		run(t, p)
		rot(t, largest(t, filepath.Dir(path)))

		_, found, _ := repair(t, path, openFolder(t, f.root, folder.Config{}))
		if len(found.Restored)+len(found.Lost) == 0 {
			t.Fatal("no damage was found")
		}
		for _, l := range found.Lost {
			if l.Key != "cat/001" {
				t.Errorf("lost: %+v", l)
			}
		}
		p, found, d := repair(t, path, target(t, backup))
		if len(found.Lost) > 0 || len(found.Restored) == 0 {
			t.Fatalf("found %+v", found)
		}
		run(t, p)
		f.must(d.Close())
		sound(t, target(t, path))
		if !strings.HasSuffix(path, ".lmdb") {
			formattest.SameTrees(t, formattest.Tree(t, filepath.Dir(path)), before)
		}
	})
}

func repair(t *testing.T, path string, src formats.Dataset) (*convert.Plan, *edit.Repaired, *edit.Target) {
	t.Helper()
	d, err := edit.Salvage(formatOf(t, path), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	var damage []formats.Damage
	if err := d.Dataset.(formats.Checker).Check(context.Background(), formats.Part{}, 2, func(x formats.Damage) { damage = append(damage, x) }); err != nil {
		t.Fatal(err)
	}
	p, found, err := edit.Repair(context.Background(), d, damage, false, src, convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return p, found, d
}

// stopping cancels when the n-th sample is read.
type stopping struct {
	formats.Dataset
	left   *atomic.Int64
	cancel context.CancelFunc
}

func (s stopping) Read(i int, smp *formats.Sample) error {
	if s.left.Add(-1) == 0 {
		time.Sleep(200 * time.Millisecond) // until what was read before is written
		s.cancel()
	}
	return s.Dataset.Read(i, smp)
}

// An addition that is stopped leaves the dataset as it was; the same addition goes on, and
// another one is refused.
func TestAddGoesOn(t *testing.T) {
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
			s := stopping{src, new(atomic.Int64), cancel}
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
			t.Error("it began anew")
		}
		same(t, path, v.pack(t, f.root, folder.Config{}))
	})
}
