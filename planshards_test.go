package dsconv_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// shardCase is a pack that is done in one process and by shards.
type shardCase struct {
	name    string
	sources []string
	dst     string
	o       dsconv.Options
	whole   bool // each process opens the sources
}

func shardCases(t *testing.T) []shardCase {
	t.Helper()
	dir := t.TempDir()
	plain := sourceFolder(t, dir)
	must(t, os.WriteFile(filepath.Join(firstClass(t, plain), "bad.jpg"), []byte("no image"), 0o644))
	archives := t.TempDir()
	formatcheck.Python(t, "import sys, shutil\nshutil.make_archive(sys.argv[2] + '/made', 'zip', sys.argv[1])", plain, archives)

	table := filepath.Join(dir, "labels.csv")
	rows := "path,age,names,note\n"
	err := filepath.WalkDir(plain, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(plain, path)
			rows += fmt.Sprintf("%s,%d.5,%s,note %d\n", rel, len(rows)%90, []string{"a;b", "c", ""}[len(rows)%3], len(rows))
		}
		return err
	})
	must(t, err)
	must(t, os.WriteFile(table, []byte(rows), 0o644))

	masks := t.TempDir()
	for i, class := range []string{"a", "b"} {
		for k := range 5 {
			for _, sub := range []string{"images/" + class, "masks/" + class} {
				must(t, os.MkdirAll(filepath.Join(masks, sub), 0o755))
				must(t, os.WriteFile(filepath.Join(masks, sub, fmt.Sprintf("%d.png", k)), smallPNG(t, i*5+k), 0o644))
			}
		}
	}
	packed := filepath.Join(t.TempDir(), "p-%03d.tar")
	_, err = dsconv.Pack(t.Context(), plain, packed, dsconv.Options{})
	must(t, err)

	resized := convert.Options{Recipe: preprocess.Recipe{Encode: codec.EncodeOptions{Encoding: formats.PNG}}, Stats: true}
	must(t, resized.Recipe.Resize.UnmarshalText([]byte("exact:20x16")))
	resized.Shards.Count = 4
	three := convert.Options{Shards: convert.Sharding{Count: 3}}
	byKey := three
	byKey.Order, byKey.Split = convert.KeyOrder, "train=0.8,val=0.2"
	raw := resized
	raw.Recipe.Encode.Encoding, raw.Order = formats.Raw, convert.Shuffled(7)
	folders := dsconv.Options{Options: three, Format: "tfrecord"}
	fields := folder.Config{Fields: []string{"mask=masks/{key}.png", "image=images/{key}.png"}}
	return []shardCase{
		{"tar", []string{plain}, "x-%06d.tar", dsconv.Options{Options: three}, false},
		{"one file", []string{plain}, "x.tar", dsconv.Options{}, false},
		{"tfrecord, by key, random splits", []string{plain}, "x-%d.tfrecord", dsconv.Options{Options: byKey}, false},
		{"raw, compressed", []string{plain}, "x-%d.tar.zst", dsconv.Options{Options: raw}, false},
		{"resized, with statistics", []string{plain}, "x-%d.tar", dsconv.Options{Options: resized}, false},
		{"a dataset for each split", []string{plain}, "out", folders, false},
		{"numbers", []string{plain}, "x-%d.tar", dsconv.Options{Options: three, Source: folder.Config{Labels: table, LabelColumns: []string{"age"}, LabelType: "float"}}, false},
		{"several labels", []string{plain}, "x-%d.tar", dsconv.Options{Options: three, Source: folder.Config{Labels: table, LabelColumns: []string{"names"}, LabelSep: ";"}}, false},
		{"some of the images", []string{plain}, "x-%d.tar", dsconv.Options{Options: convert.Options{Sample: 9, SampleSeed: 4, Shards: convert.Sharding{Count: 2}}, Source: folder.Config{Patterns: formats.Patterns{Exclude: []string{"val/"}}}}, false},
		{"masks", []string{masks}, "x-%d.tar", dsconv.Options{Options: three, Source: fields}, true},
		{"archive", []string{filepath.Join(archives, "made.zip")}, "x-%d.tar", dsconv.Options{Options: three}, true},
		{"two sources", []string{"train=" + plain + "/train", "val=" + filepath.Join(archives, "made.zip", "val")}, "x-%d.tar", dsconv.Options{Options: three}, true},
		{"dataset", []string{packed}, "x-%d.tfrecord", dsconv.Options{Options: three}, true},
	}
}

// Shards that are packed in any order, some of them twice at once, become the dataset that Pack writes, byte for byte, with
// the same report.
func TestShardsBecomeTheDatasetOfPack(t *testing.T) {
	for _, c := range shardCases(t) {
		t.Run(c.name, func(t *testing.T) {
			whole, dir := t.TempDir(), t.TempDir()
			p, err := dsconv.PlanPack(t.Context(), c.sources, filepath.Join(whole, c.dst), c.o)
			must(t, err)
			want, err := p.Run(t.Context())
			must(t, errors.Join(err, p.Close()))
			file := filepath.Join(t.TempDir(), "plan.json")
			plan, err := dsconv.PlanShards(t.Context(), c.sources, filepath.Join(dir, c.dst), file, c.o, dsconv.ShardPlanOptions{})
			must(t, err)
			if text := read(t, file); strings.Contains(text, `"root"`) == c.whole {
				t.Errorf("each process opens the sources: %t, want %t", !c.whole, c.whole)
			}
			packAll(t, file, plan.Shards)
			got, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
			must(t, err)
			if got.Left != nil || got.Earlier || got.Found != want.Found || got.Written != want.Written || len(got.Skipped) != len(want.Skipped) {
				t.Errorf("the report is %+v, want %+v", got.Report, want)
			}
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), formatcheck.Tree(t, whole))
			again(t, file, dir)
		})
	}
}

// packAll packs the shards of a plan in random order, each of them twice at once.
func packAll(t *testing.T, file string, shards int) {
	t.Helper()
	for _, shard := range rand.Perm(shards) {
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				r, err := dsconv.PackShard(t.Context(), file, shard, dsconv.ShardOptions{Workers: 2})
				if err != nil || r.Shard != shard || r.Report == nil {
					t.Errorf("shard %d: %+v, %v", shard, r, err)
				}
			})
		}
		both.Wait()
	}
	if missing, err := dsconv.MissingShards(t.Context(), file); err != nil || len(missing) != 0 {
		t.Fatalf("missing: %v, %v", missing, err)
	}
}

// again repeats what is done: each is a success, and changes nothing.
func again(t *testing.T, file, dir string) {
	t.Helper()
	before := formatcheck.Tree(t, dir)
	if r, err := dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{}); err != nil || r.Outcome != "committed already" {
		t.Errorf("a shard after the commit: %+v, %v", r, err)
	}
	if r, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{}); err != nil || !r.Earlier || r.Datasets[0].BytesOut == 0 || r.Datasets[0].BytesIn == 0 {
		t.Errorf("a second commit: %+v, %v", r, err)
	}
	if missing, err := dsconv.MissingShards(t.Context(), file); err != nil || len(missing) != 0 {
		t.Errorf("missing after the commit: %v, %v", missing, err)
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, dir), before)
}

// planned plans three shards of a folder.
func planned(t *testing.T) (src, dst, file string) {
	t.Helper()
	src = pets(t, 6)
	dst = filepath.Join(t.TempDir(), "x-%d.tar")
	file = filepath.Join(t.TempDir(), "plan.json")
	_, err := dsconv.PlanShards(t.Context(), []string{src}, dst, file, threeShards(), dsconv.ShardPlanOptions{Program: "1"})
	must(t, err)
	return src, dst, file
}

func threeShards() dsconv.Options {
	return dsconv.Options{Options: convert.Options{Shards: convert.Sharding{Count: 3}}}
}

// fails returns an error of a call as text, which must contain each of the parts.
func fails(t *testing.T, err error, is error, parts ...string) {
	t.Helper()
	if err == nil || is != nil && !errors.Is(err, is) {
		t.Fatalf("the error is %v, want one that is %v", err, is)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %q, want one with %q", err, part)
		}
	}
}

// A file that changes or goes after the plan is named, and ends the packing of its shard.
func TestChangedSourcesOfShards(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, file string){
		"longer": func(t *testing.T, file string) { must(t, os.WriteFile(file, make([]byte, 5000), 0o644)) },
		"gone":   func(t *testing.T, file string) { must(t, os.Remove(file)) },
	} {
		t.Run(name, func(t *testing.T) {
			src, dst, file := planned(t)
			must(t, os.WriteFile(filepath.Join(src, "cat", "new.jpg"), []byte("is not in the plan"), 0o644))
			change(t, filepath.Join(src, "dog", "c.jpg"))
			packed := 0
			for shard := range 3 {
				_, err := dsconv.PackShard(t.Context(), file, shard, dsconv.ShardOptions{})
				if err == nil {
					packed++
					continue
				}
				fails(t, err, formats.ErrChanged, "dog/c.jpg", "plan", fmt.Sprint("shard ", shard))
			}
			if packed != 2 {
				t.Errorf("%d shards were packed, want 2", packed)
			}
			_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
			fails(t, err, nil, "1 of 3 shards are missing")
			if entries, err := os.ReadDir(filepath.Dir(dst)); err != nil || len(entries) != 1 {
				t.Errorf("there is more than the folder of the shards: %v, %v", entries, err)
			}
			if left, _ := filepath.Glob(dst + ".shards/try-*"); len(left) > 0 {
				t.Errorf("failed attempts are left: %v", left)
			}
		})
	}
}

// A file that was only touched since the plan is packed: of a folder, and of a source that each process opens.
func TestTouchedSourcesOfShards(t *testing.T) {
	for _, archived := range []bool{false, true} {
		t.Run(fmt.Sprint("archive: ", archived), func(t *testing.T) {
			src := pets(t, 6)
			from := src
			if archived {
				from = filepath.Join(t.TempDir(), "pets.tar")
			}
			write := func() {
				if archived {
					formatcheck.Python(t, "import sys, tarfile\nwith tarfile.open(sys.argv[2], 'w') as t: t.add(sys.argv[1], arcname='.')", src, from)
				}
			}
			write()
			file, dst := filepath.Join(t.TempDir(), "plan.json"), filepath.Join(t.TempDir(), "x-%d.tar")
			_, err := dsconv.PlanShards(t.Context(), []string{from}, dst, file, threeShards(), dsconv.ShardPlanOptions{})
			must(t, err)
			must(t, os.Chtimes(filepath.Join(src, "dog", "c.jpg"), when(3), when(3)))
			write()
			for shard := range 3 {
				_, err := dsconv.PackShard(t.Context(), file, shard, dsconv.ShardOptions{})
				must(t, err)
			}
			r, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
			must(t, err)
			if r.Datasets[0].Written != 12 {
				t.Errorf("%d samples were written, want 12", r.Datasets[0].Written)
			}
		})
	}
}

// The same where each process opens the source.
func TestChangedArchiveOfShards(t *testing.T) {
	src, dir := pets(t, 6), t.TempDir()
	archive := filepath.Join(dir, "pets.tar")
	write := func() {
		formatcheck.Python(t, "import sys, tarfile\nwith tarfile.open(sys.argv[2], 'w') as t: t.add(sys.argv[1], arcname='.')", src, archive)
	}
	write()
	file := filepath.Join(dir, "plan.json")
	_, err := dsconv.PlanShards(t.Context(), []string{archive}, filepath.Join(t.TempDir(), "x-%d.tar"), file, threeShards(), dsconv.ShardPlanOptions{})
	must(t, err)
	must(t, os.Remove(filepath.Join(src, "cat", "a.jpg")))
	write()
	_, err = dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{})
	fails(t, err, formats.ErrChanged, "11 samples, and had 12", "new plan")
}

// What a plan cannot be made for is said before anything is written.
func TestPlansThatCannotBe(t *testing.T) {
	src := pets(t, 3)
	dir := t.TempDir()
	done := filepath.Join(dir, "done.tar")
	_, err := dsconv.Pack(t.Context(), src, done, dsconv.Options{})
	must(t, err)
	must(t, os.WriteFile(filepath.Join(dir, "mine.json"), []byte(`{"a": 1}`), 0o644))
	gpu := threeShards()
	gpu.Recipe.Decoder = preprocess.DecoderGPU
	for _, c := range []struct {
		dst, file string
		o         dsconv.Options
		is        error
		says      string
	}{
		{"x.lmdb", "p.json", dsconv.Options{}, convert.ErrOptions, "plan tar shards"},
		{"x.h5", "p.json", dsconv.Options{}, convert.ErrOptions, "dsconv pack"},
		{"done.tar", "p.json", dsconv.Options{}, formats.ErrExists, "done.tar"},
		{"x-%d.tar", "mine.json", dsconv.Options{}, formats.ErrForeign, "mine.json"},
		{"x-%d.tar", "p.json", gpu, convert.ErrOptions, "the card"},
		{"x.tar", "p.json", threeShards(), convert.ErrOptions, "is one file"},
	} {
		_, err := dsconv.PlanShards(t.Context(), []string{src}, filepath.Join(dir, c.dst), filepath.Join(dir, c.file), c.o, dsconv.ShardPlanOptions{})
		if errors.Is(err, formats.ErrNotBuilt) {
			continue
		}
		fails(t, err, c.is, c.says)
	}
	_, err = dsconv.PlanShards(t.Context(), []string{src}, filepath.Join(dir, "x-%d.tar"), filepath.Join(src, "p.json"), threeShards(), dsconv.ShardPlanOptions{})
	fails(t, err, convert.ErrOptions, "p.json")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 3 { // done.tar with its sidecar, mine.json
		t.Errorf("something was written: %v, %v", entries, err)
	}
}

// The same plan again is the same; another one for the same file or output is not begun, unless the first is dropped.
func TestPlansBesidePlans(t *testing.T) {
	src, dst, file := planned(t)
	text := read(t, file)
	_, err := dsconv.PackShard(t.Context(), file, 1, dsconv.ShardOptions{})
	must(t, err)
	plan := func(file string, shards int, discard bool) error {
		o := threeShards()
		o.Shards.Count = shards
		_, err := dsconv.PlanShards(t.Context(), []string{src}, dst, file, o, dsconv.ShardPlanOptions{Program: "1", Discard: discard})
		return err
	}
	must(t, plan(file, 3, false))
	if missing, err := dsconv.MissingShards(t.Context(), file); err != nil || fmt.Sprint(missing) != "[0 2]" || read(t, file) != text {
		t.Errorf("after the same plan again: missing %v, %v", missing, err)
	}
	other := filepath.Join(t.TempDir(), "other.json")
	fails(t, plan(file, 4, false), formats.ErrExists, "--discard")
	fails(t, plan(other, 4, false), nil, "it belongs to another plan", file, "--discard")
	must(t, plan(other, 4, true))
	if missing, err := dsconv.MissingShards(t.Context(), other); err != nil || fmt.Sprint(missing) != "[0 1 2 3]" {
		t.Errorf("after another plan: missing %v, %v", missing, err)
	}
	_, err = dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{})
	fails(t, err, nil, "it belongs to another plan", other)
	_, err = dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	fails(t, err, nil, "it belongs to another plan", other)
}

// Processes that make the same plan at once all succeed, also where one was killed before; of other plans for the same
// dataset one does.
func TestPlansAtOnce(t *testing.T) {
	src, parent := pets(t, 6), t.TempDir()
	for i := range 20 {
		dir := filepath.Join(parent, fmt.Sprint(i))
		dst := filepath.Join(dir, "x-%d.tar")
		must(t, os.MkdirAll(dst+".shards", 0o755))
		must(t, os.WriteFile(filepath.Join(dst+".shards", ".plan.json.1234abcd.dsconv-new"), nil, 0o644))
		errs := make([]error, 8)
		var all sync.WaitGroup
		for n := range errs {
			all.Go(func() {
				o := threeShards()
				file := filepath.Join(dir, "a.json")
				if n%2 == 1 {
					file, o.Shards.Count = filepath.Join(dir, "b.json"), 4
				}
				_, errs[n] = dsconv.PlanShards(t.Context(), []string{src}, dst, file, o, dsconv.ShardPlanOptions{})
			})
		}
		all.Wait()
		won, lost, file, shards := 0, 1, "a.json", 3
		if errs[0] != nil {
			won, lost, file, shards = 1, 0, "b.json", 4
		}
		for n := 0; n < len(errs); n += 2 {
			must(t, errs[n+won])
			fails(t, errs[n+lost], nil, "it belongs to another plan", "--discard")
		}
		packAll(t, filepath.Join(dir, file), shards)
		_, err := dsconv.CommitShards(t.Context(), filepath.Join(dir, file), dsconv.CommitOptions{})
		must(t, err)
		for name := range formatcheck.Tree(t, dir) {
			if strings.Contains(name, ".dsconv-new") || strings.Contains(name, ".shards") {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// A plan that was changed, of a later version or of another program, and a damaged listing, are refused by name.
func TestDamagedPlans(t *testing.T) {
	_, _, file := planned(t)
	text := read(t, file)
	pack := func() error {
		_, err := dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{Program: "1"})
		return err
	}
	replace := func(from, to string) {
		must(t, os.WriteFile(file, []byte(strings.Replace(text, from, to, 1)), 0o644))
	}
	replace(`"samples": 12`, `"samples": 13`)
	fails(t, pack(), formats.ErrDamaged, file, "make a new plan")
	replace(`"version": 1`, `"version": 2`)
	fails(t, pack(), formats.ErrNewer, file, "version is 2")
	must(t, os.WriteFile(file, []byte("[]"), 0o644))
	fails(t, pack(), formats.ErrNotDataset, file)
	replace("", "")
	_, err := dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{Program: "2"})
	fails(t, err, nil, "made by dsconv 1", "this is dsconv 2")
	_, err = dsconv.PackShard(t.Context(), file, 3, dsconv.ShardOptions{})
	fails(t, err, convert.ErrOptions, "shards 0 to 2")
	listing := file + ".samples.zst"
	b := []byte(read(t, listing))
	b[20] ^= 1
	must(t, os.WriteFile(listing, b, 0o644))
	fails(t, pack(), formats.ErrDamaged, listing, "shard 0")
	must(t, os.Remove(listing))
	fails(t, pack(), formats.ErrDamaged, listing, "missing")
}

// A cancelled attempt leaves nothing.
func TestCancelledShards(t *testing.T) {
	_, dst, file := planned(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := dsconv.PackShard(ctx, file, 0, dsconv.ShardOptions{})
	fails(t, err, context.Canceled)
	_, err = dsconv.CommitShards(ctx, file, dsconv.CommitOptions{})
	fails(t, err, nil, "3 of 3 shards are missing: 0, 1, 2")
	if entries, err := os.ReadDir(dst + ".shards"); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
}

// when returns a time that no file was written at.
func when(day int) time.Time { return time.Date(2021, 2, day, 4, 5, 6, 7, time.UTC) }

// smallPNG returns an image that differs from those with another n.
func smallPNG(t *testing.T, n int) []byte {
	t.Helper()
	img := image.NewGray(image.Rect(0, 0, 16, 8))
	img.SetGray(n%16, n/16, color.Gray{Y: 200})
	var b bytes.Buffer
	must(t, png.Encode(&b, img))
	return b.Bytes()
}

// firstClass returns a class folder of a folder of splits.
func firstClass(t *testing.T, root string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(root, "train", "*"))
	if err != nil || len(found) == 0 {
		t.Fatal(found, err)
	}
	return found[0]
}

// A folder with the name of the shards' is swept only if dsconv shows that it made it: not because of the names in it, and not
// if it is another user's.
func TestForeignFolderOfShards(t *testing.T) {
	src := pets(t, 6)
	for name, c := range map[string]struct {
		files []string
		other bool
		fine  bool
	}{
		"a user's, with such names": {files: []string{"shard-00001/precious"}},
		"and attempts":              {files: []string{"try-00000-1f2e3d4c5b6a/precious"}},
		"left by a killed sweep":    {files: []string{"swept.json", "shard-00001/x.tar", "try-00000-1f2e3d4c5b6a/x"}, fine: true},
		"with a user's file":        {files: []string{"swept.json", "notes.txt"}},
		"another user's":            {files: []string{"swept.json"}, other: true},
	} {
		if c.other && os.Geteuid() != 0 {
			continue // only root can give a folder away
		}
		dir := t.TempDir()
		dst := filepath.Join(dir, "x-%d.tar")
		for _, file := range c.files {
			file = filepath.Join(dst+".shards", file)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("precious"), 0o644)))
		}
		if c.other {
			must(t, os.Chown(dst+".shards", 65534, 65534))
		}
		_, err := dsconv.PlanShards(t.Context(), []string{src}, dst, filepath.Join(dir, "plan.json"), threeShards(), dsconv.ShardPlanOptions{Discard: true})
		if (err == nil) != c.fine || err != nil && !errors.Is(err, formats.ErrForeign) {
			t.Errorf("%s: %v", name, err)
		}
		for _, file := range c.files {
			if _, err := os.Stat(filepath.Join(dst+".shards", file)); (err != nil) != c.fine && file != "swept.json" {
				t.Errorf("%s: %s: %v", name, file, err)
			}
		}
	}
}
