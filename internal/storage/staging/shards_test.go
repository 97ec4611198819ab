package staging_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

var testMeta = formats.Meta{Version: 1, Format: "test", Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}

func sampleOf(i int) *formats.Sample {
	data := bytes.Repeat([]byte{byte(i), byte(i >> 8), 7}, 1+(i*7919)%9000)
	s := &formats.Sample{Key: fmt.Sprintf("k%05d", i), Values: []formats.Value{{Data: data, Encoding: formats.JPEG, Shape: []int{i, 1, 3}}}}
	s.Checksum = checksum.SampleChecksum(testMeta.Schema, s)
	return s
}

// write adds the samples from..to-1 and cuts after every hundredth.
func write(t *testing.T, s *staging.Shards, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		smp := sampleOf(i)
		at, err := s.Append([]byte("head"), smp.Values[0].Data)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Stage().Add(smp, at); err != nil {
			t.Fatal(err)
		}
		if i%100 == 99 {
			if err := s.EndShard(); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func commit(t *testing.T, s *staging.Shards) {
	t.Helper()
	index := func(dir string) ([]string, error) {
		return []string{"a.idx"}, os.WriteFile(filepath.Join(dir, "a.idx"), []byte("i"), 0o644)
	}
	if err := s.Commit(index); err != nil {
		t.Fatal(err)
	}
}

func TestShardsAreReadBackAndResumeToTheSameBytes(t *testing.T) {
	end := make([]byte, 1024)
	whole := filepath.Join(t.TempDir(), "x-%03d.rec")
	s, err := staging.CreateShards(whole, testMeta, formats.CreateOptions{}, end)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 250)
	commit(t, s)
	r, err := sharded.OpenRecords(whole)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for i := range 250 {
		err := r.ReadRecord(i, func(_ sampleindex.Entry, b []byte) error {
			if !bytes.Equal(b[4:], sampleOf(i).Values[0].Data) {
				t.Errorf("record %d differs", i)
			}
			return nil
		})
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}

	// Checkpoints at 50, 100 (just after a cut) and 170, each time followed by work that
	// is lost.
	torn := filepath.Join(t.TempDir(), "x-%03d.rec")
	if s, err = staging.CreateShards(torn, testMeta, formats.CreateOptions{}, end); err != nil {
		t.Fatal(err)
	}
	from := 0
	for _, to := range []int{50, 100, 170} {
		write(t, s, from, to)
		if err := s.Checkpoint(fmt.Append(nil, to)); err != nil {
			t.Fatal(err)
		}
		write(t, s, to, to+35)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := sharded.OpenRecords(torn); !errors.Is(err, formats.ErrNotDataset) {
			t.Fatalf("an unfinished dataset opens: %v", err)
		}
		if s, err = staging.ResumeShards(torn, formats.CreateOptions{}, end); err != nil {
			t.Fatal(err)
		}
		if string(s.Stage().Note) != fmt.Sprint(to) {
			t.Fatalf("note %q", s.Stage().Note)
		}
		from = to
	}
	write(t, s, from, 250)
	commit(t, s)
	want := formatcheck.Tree(t, filepath.Dir(whole))
	if len(want) != 4+4 {
		t.Fatalf("%d files", len(want))
	}
	formatcheck.SameTrees(t, formatcheck.Tree(t, filepath.Dir(torn)), want)
}

func TestStageRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.rec")
	s, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil); !errors.Is(err, formats.ErrLocked) {
		t.Errorf("a second writer: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil); !errors.Is(err, formats.ErrPartial) {
		t.Errorf("over a partial: %v", err)
	}
	if s, err = staging.ResumeShards(path, formats.CreateOptions{}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 3)
	commit(t, s)
	if _, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil); !errors.Is(err, formats.ErrExists) {
		t.Errorf("over a finished one: %v", err)
	}
	if s, err = staging.CreateShards(path, testMeta, formats.CreateOptions{Replace: true}, nil); err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 5)
	if r, err := sharded.OpenRecords(path); err != nil || r.Len() != 3 {
		t.Errorf("the old dataset is gone before the new one is there: %v", err)
	}
	commit(t, s)
	if r, err := sharded.OpenRecords(path); err != nil || r.Len() != 5 {
		t.Errorf("the old dataset was not replaced: %v", err)
	}
	foreign := filepath.Join(t.TempDir(), "b.rec")
	if err := os.WriteFile(foreign, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := staging.CreateShards(foreign, testMeta, formats.CreateOptions{Replace: true}, nil); !errors.Is(err, formats.ErrExists) {
		t.Errorf("over a foreign file: %v", err)
	}
}

func TestCheckFindsEveryFlippedBitThatItIsShown(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.rec")
	s, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 99)
	commit(t, s)
	sums, err := checksum.ReadChecksums(path + ".dsconv")
	if err != nil {
		t.Fatal(err)
	}
	check := func() (n int) {
		if err := sums.Check(context.Background(), dir, 0, formats.Portion{}, 2, func(formats.Damage) { n++ }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := check(); n != 0 {
		t.Fatalf("%d damages in a whole dataset", n)
	}
	for name, content := range formatcheck.Tree(t, dir) {
		if filepath.Base(name) == checksum.ChecksumsName {
			for i := range content {
				b := []byte(content)
				b[i] ^= 1 << (i % 8)
				if _, err := checksum.DecodeChecksums(b); !errors.Is(err, formats.ErrDamaged) {
					t.Fatalf("bit %d of the table: %v", i, err)
				}
			}
			continue
		}
		for i := 0; i < len(content); i += 1 + len(content)/20 {
			b := []byte(content)
			b[i] ^= 1 << (i % 8)
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
			if check() != 1 {
				t.Fatalf("%s: bit in byte %d not found", name, i)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestCutNeedsAPattern(t *testing.T) {
	s, err := staging.CreateShards(t.TempDir()+"/a.rec", testMeta, formats.CreateOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	write(t, s, 0, 3)
	if err := s.EndShard(); err == nil {
		t.Error("a path that names one file was cut")
	}
	commit(t, s)
}

// A dataset that is replaced goes as a whole, also if its shards are called by another pattern
// of the same sidecar; what is not in its table stays.
func TestReplacingShardsOfAnotherPattern(t *testing.T) {
	names := []string{"x-%06d.rec", "x-%05d.rec", "x.rec", "x%03d.rec"}
	for _, from := range names {
		for _, to := range names {
			t.Run(strings.ReplaceAll(from+" "+to, "%", ""), func(t *testing.T) { replaceShards(t, from, to) })
		}
	}
}

func replaceShards(t *testing.T, from, to string) {
	dir, fresh := t.TempDir(), t.TempDir()
	mine := filepath.Join(dir, "x-2020.rec")
	makeShards(t, filepath.Join(dir, from), false)
	if err := os.WriteFile(mine, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	makeShards(t, filepath.Join(dir, to), true)
	makeShards(t, filepath.Join(fresh, to), false)
	got, want := formatcheck.Tree(t, dir), formatcheck.Tree(t, fresh)
	if want["x-2020.rec"] = "mine"; !maps.Equal(got, want) {
		t.Errorf("%q, want %q", slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)))
	}
	// What has an old shard's name but not its size is not it.
	old, other := filepath.Join(dir, to), filepath.Join(dir, "x-%04d.rec")
	if strings.Contains(to, "%") {
		old = fmt.Sprintf(old, 0)
	}
	if err := os.WriteFile(old, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	if s, err := staging.CreateShards(other, testMeta, formats.CreateOptions{Replace: true}, nil); err == nil || !strings.Contains(err.Error(), old) {
		t.Errorf("%v, %v", s, err)
	}
}

func makeShards(t *testing.T, path string, replace bool) {
	t.Helper()
	s, err := staging.CreateShards(path, testMeta, formats.CreateOptions{Replace: replace}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(path, "%") {
		write(t, s, 0, 101)
	} else {
		write(t, s, 0, 90)
	}
	commit(t, s)
}

// A checkpoint that cannot be resumed from leaves no file open.
func TestRefusedResumeClosesItsFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x.rec")
	s, err := staging.CreateShards(path, testMeta, formats.CreateOptions{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, 0, 3)
	if err := s.Stage().Add(sampleOf(3), sampleindex.Location{Offset: 1 << 40, Length: 1}); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Checkpoint(nil), s.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := staging.ResumeShards(path, formats.CreateOptions{}, nil); !errors.Is(err, formats.ErrDamaged) {
		t.Fatal(err)
	}
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("nothing tells here what is open")
	}
	for _, e := range open {
		if name, _ := os.Readlink("/proc/self/fd/" + e.Name()); strings.HasPrefix(name, dir) {
			t.Errorf("%s is open", name)
		}
	}
}
