package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// zipOf is the folder src as a zip.
func zipOf(t *testing.T, src string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	must(t, w.AddFS(os.DirFS(src)))
	must(t, w.Close())
	return b.Bytes()
}

// tarOf is the folder src as a tar.
func tarOf(t *testing.T, src string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	must(t, w.AddFS(os.DirFS(src)))
	must(t, w.Close())
	return b.Bytes()
}

// webdatasetOf is a WebDataset of the images of src, in the order of their names, each labelled with the number of its
// class.
func webdatasetOf(t *testing.T, src string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	add := func(name string, data []byte) {
		must(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(data))}))
		_, err := w.Write(data)
		must(t, err)
	}
	for i, image := range imagesOf(t, src) {
		add(fmt.Sprintf("%06d.jpg", i), read(t, image))
		add(fmt.Sprintf("%06d.cls", i), fmt.Append(nil, i%10))
	}
	must(t, w.Close())
	return b.Bytes()
}

// foreignSource is a source that is not a folder: what to name in the command, and the file that it is in.
type foreignSource struct {
	name string
	args []string
	file string
	// with writes file as that of the images in the folder src.
	with func(t *testing.T, src string)
}

// foreignSources writes the images of src as each kind of source.
func foreignSources(t *testing.T, src string) []foreignSource {
	t.Helper()
	dir := t.TempDir()
	in := func(name string, content func(t *testing.T, src string) []byte, compressed bool) (string, func(t *testing.T, src string)) {
		path := filepath.Join(dir, name)
		return path, func(t *testing.T, src string) {
			t.Helper()
			b := content(t, src)
			if compressed {
				b = gzipOf(t, b)
			}
			must(t, os.WriteFile(path, b, 0o644))
		}
	}
	zipped, withZip := in("a.zip", zipOf, false)
	packed, withTar := in("a.tar.gz", tarOf, true)
	web, withWeb := in("a.tar", webdatasetOf, false)
	list := []foreignSource{
		{"zip", []string{zipped}, zipped, withZip},
		{"tar.gz", []string{packed}, packed, withTar},
		{"WebDataset", []string{web}, web, withWeb},
		{"two sources", []string{"train=" + src, "val=" + zipped}, zipped, withZip},
	}
	for _, s := range list {
		s.with(t, src)
	}
	return list
}

// packFrom packs sources in a process of its own.
func packFrom(t *testing.T, s foreignSource, dst string) *process {
	t.Helper()
	args := append([]string{os.Args[0], "pack"}, s.args...)
	return start(t, append(args, dst, reportAside(t), "--checkpoint=20KB", "--order=key", "--on-error=fail"))
}

// Packs of archives, of datasets of other programs and of several sources that are killed at random moments end with
// the bytes of an undisturbed run.
func TestSourcesKilledAnywhere(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := samples(t, "60", "64x48")
	r := rand.New(rand.NewPCG(22, 1))
	for _, s := range foreignSources(t, src) {
		t.Run(s.name, func(t *testing.T) {
			whole := t.TempDir()
			began := time.Now()
			if p := packFrom(t, s, filepath.Join(whole, "out.tar")); p.wait() != exitDone {
				t.Fatal(p.said.String())
			}
			took := time.Since(began)
			want := formatcheck.Tree(t, whole)
			dir := t.TempDir()
			resumed := 0
			for range kills(t) {
				p := packFrom(t, s, filepath.Join(dir, "out.tar"))
				time.Sleep(time.Duration(r.Float64() * float64(took)))
				hit := p.kill()
				if strings.Contains(p.said.String(), "were done before") {
					resumed++
				}
				if !hit {
					if !isWritten(p) {
						t.Fatal(p.said.String())
					}
					formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
					dir = t.TempDir()
				}
			}
			p := packFrom(t, s, filepath.Join(dir, "out.tar"))
			p.wait()
			if !isWritten(p) {
				t.Fatal(p.said.String())
			}
			formatcheck.SameTrees(t, formatcheck.Tree(t, dir), want)
			t.Logf("%d runs went on after a kill", resumed)
		})
	}
}

// A source that has other bytes when the pack is resumed is refused by name: the dataset has never samples of both.
func TestResumeFromAChangedSource(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	src := samples(t, "60", "64x48")
	last := lastImage(t, src)
	whole := read(t, last)
	for _, s := range foreignSources(t, src) {
		t.Run(s.name, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "out.tar")
			resume := func(change func(), want int, says string) {
				t.Helper()
				must(t, os.RemoveAll(dst+".partial"))
				must(t, os.WriteFile(last, make([]byte, len(whole)), 0o644)) // a bad image ends the first run
				s.with(t, src)
				if p := packFrom(t, s, dst); p.wait() != exitFailed || !strings.Contains(p.said.String(), "repeat the command to resume") {
					t.Fatal(p.said.String())
				}
				must(t, os.WriteFile(last, whole, 0o644))
				change()
				p := packFrom(t, s, dst)
				if code := p.wait(); code != want || !strings.Contains(p.said.String(), says) {
					t.Errorf("exit code %d, want %d with %q: %s", code, want, says, p.said.String())
				}
			}
			first := imagesOf(t, src)[0]
			was := read(t, first)
			resume(func() {
				b := bytes.Clone(was)
				b[len(b)/2] ^= 1
				must(t, os.WriteFile(first, b, 0o644))
				s.with(t, src)
			}, exitFailed, "--discard")
			must(t, os.WriteFile(first, was, 0o644))
			resume(func() {
				s.with(t, src)
				must(t, os.Truncate(s.file, int64(len(read(t, s.file))/2&^511+1))) // within a header or a file of a tar
			}, exitFailed, s.file)
			if s.name != "WebDataset" { // where an image of zeros is no sample, so that the first run had another plan
				resume(func() { s.with(t, src) }, exitDone, "were done before")
			}
		})
	}
}

// isWritten reports whether the pack has ended with the dataset, or found it there: the one before was killed when it
// had published it.
func isWritten(p *process) bool {
	return p.code == exitDone || strings.Contains(p.said.String(), "already exists")
}
