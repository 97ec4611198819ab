package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// largeFile is the size of files that are within the limit of an image's file. Each is in memory as a whole.
const largeFile = 900 << 20

// Files of almost a gigabyte do not lie in memory all at once, whether they are images or not.
func TestLargeFilesTakeTurns(t *testing.T) {
	if quick() {
		t.Skip("reads tens of gigabytes; make torture runs it")
	}
	const n = 6
	src := samples(t, "20", "32x24")
	image := read(t, imagesOf(t, src)[0])
	for _, c := range []struct {
		name string
		head []byte
		bad  int
	}{
		{"no image", []byte("none"), n},
		{"an image and zeros", image, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			folder, archive := filepath.Join(t.TempDir(), "in"), filepath.Join(t.TempDir(), "x.tar")
			must(t, os.CopyFS(folder, os.DirFS(src)))
			large := filepath.Join(folder, "large")
			must(t, os.MkdirAll(large, 0o755))
			for k := range n {
				store(t, filepath.Join(large, fmt.Sprintf("%d.jpg", k)), largeFile-int64(len(c.head)), c.head)
			}
			sparseTar(t, archive, src, n, c.head)
			for _, source := range []string{folder, archive} {
				said, code, peak := peakOf(t, "pack", source, filepath.Join(t.TempDir(), "out.tar"), "--workers", "3", "--resize", "exact:16x16", "--encode", "raw")
				counts := fmt.Sprintf("found %d = written %d + skipped %d + failed 0", 20+n, 20+n-c.bad, c.bad)
				if (code == exitDone) != (c.bad == 0) || !strings.Contains(said, counts) || peak > hostilePeak {
					t.Errorf("pack %s: exit code %d, a peak of %d MB, not %q: %s", filepath.Base(source), code, peak/1e6, counts, said)
				}
				t.Logf("pack %s: a peak of %d MB", filepath.Base(source), peak/1e6)
			}
			said, code, peak := peakOf(t, "bench", folder, "--advise=false", "--augment", "resize:16x16", "--on-error", "skip", "--workers", "3", "--batch", "16", "--rounds", "1", "--epochs", "1")
			if code != exitDone || peak > hostilePeak {
				t.Errorf("bench: exit code %d, a peak of %d MB: %s", code, peak/1e6, said)
			}
			t.Logf("bench: a peak of %d MB", peak/1e6)
		})
	}
}

// sparseTar writes a tar of the folder src and of n members of largeFile bytes that begin with head.
func sparseTar(t *testing.T, path, src string, n int, head []byte) {
	t.Helper()
	members := bytes.NewBuffer(tarMembersOf(t, src))
	f, err := os.Create(path)
	must(t, err)
	_, err = f.Write(members.Bytes())
	must(t, err)
	for k := range n {
		_, err = f.Write(append(tarHeader(t, fmt.Sprintf("large/%d.jpg", k), largeFile), head...))
		must(t, err)
		_, err = f.Seek(largeFile-int64(len(head)), 1)
		must(t, err)
	}
	at, err := f.Seek(0, 1)
	must(t, err)
	must(t, f.Truncate(at+1024))
	must(t, f.Close())
}
