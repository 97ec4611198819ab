package dsconv_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// wholePlan plans and packs three shards of a folder.
func wholePlan(t *testing.T) (src, dst, file string) {
	t.Helper()
	src, dst, file = planned(t)
	packAll(t, file, 3)
	return src, dst, file
}

// A shard that is damaged, incomplete or another one's is named by the commit, with the command that packs it again; then
// the dataset is whole.
func TestDamagedShards(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(t *testing.T, shard string)
		says   string
	}{
		"a flipped bit":   {func(t *testing.T, shard string) { flip(t, filepath.Join(shard, "shard.tar"), 700) }, "offset"},
		"a shorter file":  {func(t *testing.T, shard string) { must(t, os.Truncate(filepath.Join(shard, "shard.tar"), 1024)) }, "1024 bytes"},
		"no data":         {func(t *testing.T, shard string) { must(t, os.Remove(filepath.Join(shard, "shard.tar"))) }, "data file is missing"},
		"no description":  {func(t *testing.T, shard string) { must(t, os.RemoveAll(filepath.Join(shard, "shard.tar.dsconv"))) }, "shard.tar"},
		"an empty folder": {func(t *testing.T, shard string) { must(t, os.RemoveAll(shard)); must(t, os.Mkdir(shard, 0o755)) }, "it has no shard.json"},
		"no JSON": {func(t *testing.T, shard string) {
			must(t, os.WriteFile(filepath.Join(shard, "shard.json"), []byte("{"), 0o644))
		}, "cannot be read"},
		"another shard": {func(t *testing.T, shard string) {
			must(t, os.RemoveAll(shard))
			must(t, os.CopyFS(shard, os.DirFS(filepath.Join(filepath.Dir(shard), "shard-00002"))))
		}, "it has shard 2"},
	} {
		t.Run(name, func(t *testing.T) {
			src, dst, file := wholePlan(t)
			shard := dst + ".shards/shard-00001"
			c.damage(t, shard)
			_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
			fails(t, err, formats.ErrDamaged, "shard 1", c.says, "dsconv shards pack --again "+file+" 1")
			if _, err := dsconv.Open(dst); !errors.Is(err, formats.ErrNotDataset) {
				t.Fatalf("something was published: %v", err)
			}
			r, err := dsconv.PackShard(t.Context(), file, 1, dsconv.ShardOptions{Again: true})
			if err != nil || r.Outcome != "packed" {
				t.Fatalf("again: %+v, %v", r, err)
			}
			committed(t, src, dst, file)
		})
	}
}

// committed commits a plan, and compares the dataset with that of Pack.
func committed(t *testing.T, src, dst, file string) {
	t.Helper()
	_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	must(t, err)
	whole := filepath.Join(t.TempDir(), filepath.Base(dst))
	_, err = dsconv.Pack(t.Context(), src, whole, threeShards())
	must(t, err)
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(dst)), formatcheck.Tree(t, filepath.Dir(whole)))
}

func flip(t *testing.T, file string, at int64) {
	t.Helper()
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	must(t, err)
	defer f.Close()
	b := make([]byte, 1)
	_, err = f.ReadAt(b, at)
	must(t, err)
	_, err = f.WriteAt([]byte{b[0] ^ 4}, at)
	must(t, err)
}

// A shard of another plan is named, and not taken.
func TestShardsOfAnotherPlan(t *testing.T) {
	src, dst, file := wholePlan(t)
	_, other, otherFile := planned(t)
	_, err := dsconv.PackShard(t.Context(), otherFile, 1, dsconv.ShardOptions{})
	must(t, err)
	shard := dst + ".shards/shard-00001"
	must(t, os.RemoveAll(shard))
	must(t, os.Rename(other+".shards/shard-00001", shard))
	_, err = dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	fails(t, err, nil, "shard 1", "it belongs to another plan")
	_, err = dsconv.PackShard(t.Context(), file, 1, dsconv.ShardOptions{})
	fails(t, err, nil, "it belongs to another plan", "--again")
	_, err = dsconv.PackShard(t.Context(), file, 1, dsconv.ShardOptions{Again: true})
	must(t, err)
	committed(t, src, dst, file)
}

// What attempts that were killed left, and a commit that was killed, is cleared away; a file of the user's stays, and with it
// the folder.
func TestWhatIsLeftBesideShards(t *testing.T) {
	src, dst, file := wholePlan(t)
	work := dst + ".shards"
	must(t, os.MkdirAll(filepath.Join(work, "try-00001-0a1b2c3d4e5f", "shard.tar.partial", "data"), 0o755))
	mine := filepath.Join(work, "notes.txt")
	must(t, os.WriteFile(mine, []byte("mine"), 0o644))
	r, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	must(t, err)
	fails(t, r.Left, formats.ErrForeign, "notes.txt")
	if entries, err := os.ReadDir(work); err != nil || len(entries) != 1 {
		t.Errorf("left: %v, %v", entries, err)
	}
	if got := read(t, mine); got != "mine" {
		t.Errorf("the file of the user's is %q", got)
	}
	must(t, os.RemoveAll(work))
	whole := filepath.Join(t.TempDir(), filepath.Base(dst))
	_, err = dsconv.Pack(t.Context(), src, whole, threeShards())
	must(t, err)
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(dst)), formatcheck.Tree(t, filepath.Dir(whole)))
}

// A commit that was killed after it published the dataset, but before it removed the folder of the shards, is completed.
func TestCommitIsCompleted(t *testing.T) {
	src, dst, file := wholePlan(t)
	kept := filepath.Join(t.TempDir(), "kept")
	must(t, os.CopyFS(kept, os.DirFS(dst+".shards")))
	_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	must(t, err)
	must(t, os.Rename(kept, dst+".shards"))
	committed(t, src, dst, file)
}

// An unfinished pack at the destination is not dropped.
func TestCommitBesideAnUnfinishedPack(t *testing.T) {
	src, dst, file := wholePlan(t)
	o := threeShards()
	o.Checkpoint = 1
	o.OnError = "fail"
	bad := filepath.Join(src, "dog", "f.jpg")
	good := read(t, bad)
	must(t, os.WriteFile(bad, []byte("no image"), 0o644))
	if _, err := dsconv.Pack(t.Context(), src, dst, o); err == nil {
		t.Fatal("the pack did not stop")
	}
	must(t, os.WriteFile(bad, []byte(good), 0o644))
	_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	fails(t, err, formats.ErrPartial, dst)
	if missing, err := dsconv.MissingShards(t.Context(), file); err != nil || len(missing) > 0 {
		t.Errorf("the shards are gone: %v, %v", missing, err)
	}
}

// Several commits at once publish the dataset once; each of them is a success, or says that another one is at work.
func TestCommitsAtOnce(t *testing.T) {
	src, dst, file := wholePlan(t)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			_, err := dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
			if err != nil && !errors.Is(err, formats.ErrLocked) && !strings.Contains(err.Error(), "committed") {
				t.Error(err)
			}
		})
	}
	all.Wait()
	committed(t, src, dst, file)
}

// A plan replaces no dataset.
func TestShardsReplaceNoDataset(t *testing.T) {
	src, dst, file := wholePlan(t)
	committed(t, src, dst, file)
	second := filepath.Join(t.TempDir(), "second.json")
	o := threeShards()
	o.Shards.Count = 2
	_, err := dsconv.PlanShards(t.Context(), []string{src}, dst, second, o, dsconv.ShardPlanOptions{})
	fails(t, err, formats.ErrExists, dst)
	o.Create.Replace = true
	_, err = dsconv.PlanShards(t.Context(), []string{src}, dst, second, o, dsconv.ShardPlanOptions{})
	fails(t, err, convert.ErrOptions, "shards replace no dataset")
}

// A dataset that was replaced since is not the plan's.
func TestShardsOfAReplacedDataset(t *testing.T) {
	src, dst, file := wholePlan(t)
	committed(t, src, dst, file)
	o := threeShards()
	o.Create.Replace = true
	_, err := dsconv.Pack(t.Context(), pets(t, 5), dst, o)
	must(t, err)
	const why = "it was changed since"
	_, err = dsconv.PackShard(t.Context(), file, 0, dsconv.ShardOptions{})
	fails(t, err, nil, dst, why, "make the plan again")
	_, err = dsconv.MissingShards(t.Context(), file)
	fails(t, err, nil, dst, why)
	_, err = dsconv.CommitShards(t.Context(), file, dsconv.CommitOptions{})
	fails(t, err, nil, dst, why)
}

// The samples of a plan are lines of JSON that other programs read.
func TestListingIsReadable(t *testing.T) {
	_, _, file := planned(t)
	text := unzstd(t, file+".samples.zst")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 12 || !strings.HasPrefix(lines[0], `{"key":"`) {
		t.Fatalf("%d lines: %s", len(lines), text)
	}
	for _, class := range []string{"cat", "dog"} {
		for _, name := range "abcdef" {
			if path := fmt.Sprintf(`"path":"%s/%c.jpg"`, class, name); strings.Count(text, path) != 1 {
				t.Errorf("%s is there %d times", path, strings.Count(text, path))
			}
		}
	}
}

func unzstd(t *testing.T, file string) string {
	t.Helper()
	f, err := os.Open(file)
	must(t, err)
	defer f.Close()
	z, err := zstd.NewReader(f)
	must(t, err)
	defer z.Close()
	b, err := io.ReadAll(z)
	must(t, err)
	return string(b)
}
