package reader_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/internal/cache"
	"github.com/dsconv/dsconv/internal/testing/failingdisk"
	"github.com/dsconv/dsconv/reader"
)

// diskConfig reads the images and labels, which every format has.
func diskConfig(on reader.OnError) reader.Config {
	c := training()
	c.OnError, c.BatchSize, c.Workers, c.Shuffle, c.Weight = on, 6, 3, true, nil
	return c
}

// truth is what each sample is in an epoch on a disk that works.
func truth(t *testing.T, path string, c reader.Config) map[int]entry {
	t.Helper()
	l, err := reader.Open(dsconv.Formats(), path, c)
	must(t, err)
	defer l.Close()
	entries := map[int]entry{}
	for _, s := range collect(t, l.Epoch(t.Context(), 1)) {
		for _, e := range s.Entries {
			entries[e.Index] = e
		}
	}
	return entries
}

// copyDataset copies what is stored at path, beside which others may lie, to a new folder.
func copyDataset(t *testing.T, path string) string {
	t.Helper()
	to := t.TempDir()
	before, after, sharded := strings.Cut(filepath.Base(path), "-%02d")
	entries, err := os.ReadDir(filepath.Dir(path))
	must(t, err)
	for _, e := range entries {
		part := e.Name() == filepath.Base(path)
		if sharded {
			part = strings.HasPrefix(e.Name(), before) && strings.Contains(e.Name(), after)
		}
		if !part {
			continue
		}
		from := filepath.Join(filepath.Dir(path), e.Name())
		if e.IsDir() {
			must(t, os.CopyFS(filepath.Join(to, e.Name()), os.DirFS(from)))
			continue
		}
		b, err := os.ReadFile(from)
		must(t, err)
		must(t, os.WriteFile(filepath.Join(to, e.Name()), b, 0o644))
	}
	return filepath.Join(to, filepath.Base(path))
}

// dataFiles calls do with each file beside path.
func dataFiles(path string, do func(file string, size int64) error) error {
	return filepath.WalkDir(filepath.Dir(path), func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		in, err := e.Info()
		if err != nil {
			return err
		}
		return do(file, in.Size())
	})
}

// accidents are what may happen to the files of a dataset that is being read.
var accidents = map[string]func(file string, size int64) error{
	// At any byte: what is missing in the last page of a file are zeros to whoever maps it.
	"shortened": func(file string, size int64) error { return os.Truncate(file, size*8/16+rand.Int64N(size/2+1)) },
	"emptied":   func(file string, _ int64) error { return os.Truncate(file, 0) },
	"deleted":   func(file string, _ int64) error { return os.Remove(file) },
	"replaced": func(file string, size int64) error {
		return errors.Join(os.WriteFile(file+".new", make([]byte, size), 0o644), os.Rename(file+".new", file))
	},
	"overwritten": func(file string, size int64) error {
		f, err := os.OpenFile(file, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		b := make([]byte, size)
		for i := range b {
			b[i] = byte(rand.Uint32())
		}
		_, err = f.WriteAt(b, 0)
		return errors.Join(err, f.Close())
	},
}

// moments is how often each accident happens to each format.
func moments() int {
	if testing.Short() || reader.UnderRace {
		return 4
	}
	return 20
}

// TestAccidentsInAnEpoch: whatever happens to a dataset's files while they are read, at any
// step, samples are right or an error that names one. The process lives, and what can be read
// is.
func TestAccidentsInAnEpoch(t *testing.T) {
	c := newCorpus(t, 60, packings())
	for _, s := range c.stored {
		want := truth(t, s.path, diskConfig(reader.Fail))
		for name, accident := range accidents {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				for moment := range moments() {
					path := copyDataset(t, s.path)
					on := []reader.OnError{reader.Fail, reader.Skip, reader.Substitute}[moment%3]
					e := epoch{path: path, on: on, want: want, exact: name != "overwritten"}
					e.at, e.happens = rand.IntN(10), func() { must(t, dataFiles(path, accident)) }
					failed := e.run(t)
					if s.name != "folder" && (name == "deleted" || name == "replaced") && failed > 0 {
						t.Errorf("step %d, %s: %d samples failed of a file that is still open", e.at, on, failed)
					}
				}
			})
		}
	}
}

// epoch is one in which something happens to the files.
type epoch struct {
	path    string
	on      reader.OnError
	want    map[int]entry
	exact   bool // samples are right or fail
	at      int  // the step
	happens func()
}

// run goes through the epoch and gives how many samples failed, at least.
func (e *epoch) run(t *testing.T) (failed int) {
	t.Helper()
	l, err := reader.Open(dsconv.Formats(), e.path, diskConfig(e.on))
	must(t, err)
	defer func() { must(t, l.Close()) }()
	seen, left, replaced, step := 0, 0, 0, 0
	for b, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			e.checkError(t, err)
			failed++
			break
		}
		for _, got := range stepOf(b).Entries {
			if e.exact && got != e.want[got.Index] && got.Index >= 0 {
				t.Errorf("%s: sample %d is not what was stored", e.on, got.Index)
			}
		}
		seen, left, replaced = seen+b.N, left+b.Skipped, replaced+b.Substituted
		if step++; step == e.at+1 {
			e.happens()
		}
	}
	times, _ := l.Bad()
	if failed == 0 && seen+left != len(e.want) {
		t.Errorf("%s: %d samples and %d that were skipped, want %d together", e.on, seen, left, len(e.want))
	}
	if failed == 0 && int(times) < left+replaced {
		t.Errorf("%s: %d bad samples are counted, %d were skipped and %d substituted", e.on, times, left, replaced)
	}
	failed += left + replaced
	return failed + e.single(t, l)
}

// single picks each sample by itself.
func (e *epoch) single(t *testing.T, l *reader.Loader) (failed int) {
	t.Helper()
	b := new(reader.Batch)
	for i := range len(e.want) {
		switch err := l.Pick(i, 1, b); {
		case err != nil:
			e.checkError(t, err)
			failed++
		case e.exact && stepOf(b).Entries[0] != e.want[i]:
			t.Errorf("sample %d is not what was stored", i)
		}
	}
	return failed
}

// named is a sample by its key or, where that cannot be read, by its number.
var named = regexp.MustCompile(`(cat|dog|owl)/|sample \d+.* (cannot be read|damaged)`)

// checkError reports an error that does not name a sample.
func (e *epoch) checkError(t *testing.T, err error) {
	t.Helper()
	text := err.Error()
	if strings.Contains(text, "panic") || !named.MatchString(text) {
		t.Errorf("%s: %v", e.on, err)
	}
	file := []string{filepath.Base(filepath.Dir(e.path)), "/index", ".jpg", ".png", ".tar at byte", ".zst at byte", ".tfrecord at byte"}
	if e.exact && !slices.ContainsFunc(file, func(name string) bool { return strings.Contains(text, name) }) {
		t.Errorf("%s: the error does not name the file: %v", e.on, err)
	}
}

// diskServer is the environment variable that makes the test binary serve a failing disk: the
// folder that it shows and where.
const diskServer = "DSCONV_TEST_FAILING_DISK"

// failing shows a folder on a disk whose reads fail at random, from set on. The test is skipped
// where nothing can be mounted.
func failing(t *testing.T, folder string) (mountpoint string, set func(share float64)) {
	t.Helper()
	mountpoint = t.TempDir()
	ctx, cancel := context.WithCancel(context.Background())
	server := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestFailingDisk$")
	server.Env = append(os.Environ(), diskServer+"="+folder+"\n"+mountpoint)
	in, err := server.StdinPipe()
	must(t, err)
	out, err := server.StdoutPipe()
	must(t, err)
	var report strings.Builder
	server.Stderr = &report
	must(t, server.Start())
	answers := bufio.NewReader(out)
	t.Cleanup(func() {
		must(t, in.Close())
		_, _ = io.Copy(io.Discard, answers)
		if err := server.Wait(); err != nil {
			t.Errorf("%v: %s", err, report.String())
		}
		cancel()
	})
	if line, _ := answers.ReadString('\n'); line != "mounted\n" {
		t.Skipf("no file system can be mounted here: %s", line)
	}
	return mountpoint, func(share float64) {
		_, err := fmt.Fprintln(in, share)
		must(t, err)
		_, err = answers.ReadString('\n')
		must(t, err)
	}
}

// TestFailingDisk: samples of a disk that fails at random are right or an error that names one,
// and when it works again all are right.
func TestFailingDisk(t *testing.T) {
	if given := os.Getenv(diskServer); given != "" {
		folder, mountpoint, _ := strings.Cut(given, "\n")
		if err := failingdisk.Serve(folder, mountpoint, os.Stdin, os.Stdout); err != nil {
			fmt.Println(err)
		}
		os.Exit(0)
	}
	c := newCorpus(t, 60, packings())
	mountpoint, set := failing(t, c.root)
	total := 0
	for _, s := range c.stored {
		want := truth(t, s.path, diskConfig(reader.Fail))
		path := filepath.Join(mountpoint, filepath.Base(s.path))
		for moment := range moments() {
			on := []reader.OnError{reader.Fail, reader.Skip, reader.Substitute}[moment%3]
			e := epoch{path: path, on: on, want: want, exact: true, at: rand.IntN(10)}
			share := []float64{0.1, 0.5, 0.9}[rand.IntN(3)]
			e.happens = func() { set(share) }
			total += e.run(t)
			set(0)
			e.happens = func() {}
			if failed := e.run(t); failed > 0 {
				t.Errorf("%s: %d samples fail of a disk that works again", s.name, failed)
			}
		}
	}
	if total == 0 {
		t.Error("no sample failed")
	}
}

// TestDamagedCache: a cache whose file is cut while it is used costs time, and no sample.
func TestDamagedCache(t *testing.T) {
	c := newCorpus(t, 60, packings()[:1])
	for _, kind := range []reader.CacheKind{reader.Encoded, reader.Decoded} {
		for _, s := range c.stored {
			config := diskConfig(reader.Fail)
			config.Fields = nil
			want := truth(t, s.path, config)
			for range moments() {
				dir := t.TempDir()
				config.Cache = reader.Cache{Kind: kind, Limit: 32 << 20, Dir: dir}
				l, err := reader.Open(dsconv.Formats(), s.path, config)
				must(t, err)
				cutAt, size, step := rand.IntN(30), rand.Int64N(1<<rand.IntN(20)), 0
				for range 3 {
					for _, batch := range collect(t, func(yield func(*reader.Batch, error) bool) {
						for b, err := range l.Epoch(t.Context(), 1) {
							if step++; step == cutAt {
								must(t, dataFiles(filepath.Join(dir, "x"), func(file string, _ int64) error { return os.Truncate(file, size) }))
							}
							if !yield(b, err) {
								return
							}
						}
					}) {
						for _, got := range batch.Entries {
							if got.Index >= 0 && got != want[got.Index] {
								t.Fatalf("%s: sample %d is not what was stored", kind, got.Index)
							}
						}
					}
				}
				_ = l.CacheStats()
				must(t, l.Close())
			}
		}
	}
}

// TestCacheCutInsideAPage: a file that is cut inside a page sends no signal, the rest of the page
// reads as zeros. Every sample that lies there comes from the dataset then.
func TestCacheCutInsideAPage(t *testing.T) {
	c := newCorpus(t, 20, packings()[:1])
	path, config := c.stored[0].path, diskConfig(reader.Fail)
	config.Fields = nil
	want := truth(t, path, config)
	for _, kind := range []reader.CacheKind{reader.Encoded, reader.Decoded} {
		for _, missing := range []int64{1, 9, 64, 200, 1000} {
			dir := t.TempDir()
			config.Cache = reader.Cache{Kind: kind, Limit: 32 << 20, Dir: dir}
			l, err := reader.Open(dsconv.Formats(), path, config)
			must(t, err)
			collect(t, l.Epoch(t.Context(), 1))
			end := cache.IndexSize(20) + l.CacheStats().Used
			must(t, dataFiles(filepath.Join(dir, "x"), func(file string, _ int64) error {
				return os.Truncate(file, end-missing)
			}))
			if n := checkSamples(t, l, want); n != 20 {
				t.Errorf("%s, the last %d bytes are missing: %d samples of 20", kind, missing, n)
			}
			must(t, l.Close())
		}
	}
}

// TestNoZerosAreCached: what a dataset that was cut inside a page shows as zeros is not kept.
func TestNoZerosAreCached(t *testing.T) {
	c := newCorpus(t, 20, packings())
	for _, s := range c.stored[len(c.stored)-2:] { // raw pixels: zeros are pixels too
		config := diskConfig(reader.Skip)
		config.Fields = nil
		want := truth(t, s.path, config)
		for moment := range int64(moments()) {
			config.Cache = reader.Cache{Kind: reader.Encoded, Limit: 32 << 20, Dir: t.TempDir()}
			path := copyDataset(t, s.path)
			l, err := reader.Open(dsconv.Formats(), path, config)
			must(t, err)
			must(t, dataFiles(path, func(file string, size int64) error { return os.Truncate(file, size*(moment+1)/21) }))
			for range 2 {
				checkSamples(t, l, want)
			}
			must(t, l.Close())
		}
	}
}

// checkSamples runs an epoch, up to a batch of which no sample can be used, and counts the
// samples.
func checkSamples(t *testing.T, l *reader.Loader, want map[int]entry) (n int) {
	t.Helper()
	for b, err := range l.Epoch(t.Context(), 1) {
		if err != nil {
			return n
		}
		for _, got := range stepOf(b).Entries {
			if got.Index < 0 {
				continue
			}
			if n++; got != want[got.Index] {
				t.Errorf("sample %d is not what was stored", got.Index)
			}
		}
	}
	return n
}
