package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
)

// A split's name becomes part of a path. Names that lead elsewhere are refused, and nothing is written
// outside.
func TestSplitsAreNoPaths(t *testing.T) {
	src := samples(t, "12", "16x16")
	table := func(dir, split string) string {
		file := filepath.Join(dir, "labels.csv")
		var b strings.Builder
		b.WriteString("path,label,part\n")
		for _, image := range imagesOf(t, src) {
			rel, err := filepath.Rel(src, image)
			must(t, err)
			b.WriteString(rel + ",a," + split + "\n")
		}
		must(t, os.WriteFile(file, []byte(b.String()), 0o644))
		return file
	}
	for _, split := range []string{"../../../escaped", "..", "/escaped", `a\b`, "a/b", "\x1b[2J"} {
		t.Run(split, func(t *testing.T) {
			top := t.TempDir()
			out := filepath.Join(top, "a", "b", "c", "out")
			must(t, os.MkdirAll(out, 0o755))
			labels := table(t.TempDir(), split)
			for _, args := range [][]string{
				{"pack", src, out, "--format=shard", "--labels", labels, "--split=part"},
				{"pack", src, filepath.Join(out, "x.tar"), "--labels", labels, "--split=part"},
				{"pack", src, out, "--format=shard", "--split=" + split + "=0.5,b=0.5"},
				{"pack", src, out, "--format=shard", "--labels", labels, "--split=part", "--dry-run"},
			} {
				if code, said := dsconvSays(append(args, reportAside(t))...); code == exitDone || code == exitSkipped || !strings.Contains(said, "split") {
					t.Errorf("%v: exit code %d: %s", args, code, said)
				}
			}
			dst := filepath.Join(out, "x.tar")
			if code, said := packTo(t, src, dst, "--labels", labels); code != exitDone {
				t.Fatal(said)
			}
			key, _, _ := strings.Cut(filepath.ToSlash(strings.TrimPrefix(imagesOf(t, src)[0], src+"/")), ".")
			rows := filepath.Join(t.TempDir(), "rows.csv")
			must(t, os.WriteFile(rows, []byte("key,split\n"+key+","+split+"\n"), 0o644))
			if code, said := dsconvSays("relabel", dst, rows); code != exitFailed && code != exitUsage || !strings.Contains(said, key) {
				t.Errorf("relabel: exit code %d: %s", code, said)
			}
			must(t, filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
				if err == nil && !d.IsDir() && !strings.HasPrefix(path, dst) {
					t.Errorf("%s was written", path)
				}
				return err
			}))
		})
	}
}

// A dataset whose description has such a split is refused when it is opened.
func TestStoredSplitsAreNoPaths(t *testing.T) {
	src := samples(t, "10", "16x16")
	dst := filepath.Join(t.TempDir(), "x.tar")
	if code, said := packTo(t, src, dst); code != exitDone {
		t.Fatal(said)
	}
	rewrite(t, dst+".dsconv", "", func(m *formats.Meta) { m.Splits = []formats.Split{{Name: "../../escaped", Count: 10}} })
	if code, said := dsconvSays("info", dst); code != exitFailed || !strings.Contains(said, "split") || !strings.Contains(said, dst) {
		t.Errorf("exit code %d: %s", code, said)
	}
}

// An image with the name of the table of labels is unpacked beside the table.
func TestUnpackMeetsItsOwnTable(t *testing.T) {
	image := read(t, imagesOf(t, samples(t, "10", "16x16"))[0])
	m := formats.Meta{Version: formats.Version, Format: "shard", Columns: []string{"more"}, Schema: formats.Schema{{Name: "image", Kind: formats.Image}}}
	for source, key := range map[string]string{"labels.csv": "labels", "Labels.CSV": "Labels", "labels.csv/1.jpg": "labels.csv/1"} {
		t.Run(source, func(t *testing.T) {
			dst := filepath.Join(t.TempDir(), "x.tar")
			w, err := shard.Format{}.Create(dst, m, formats.CreateOptions{})
			must(t, err)
			s := &formats.Sample{
				Key: key, Source: formats.Source{Path: source}, Columns: []string{"7"},
				Values: []formats.Value{{Data: image, Encoding: formats.JPEG, Shape: []int{16, 16, 3}}},
			}
			s.Checksum = checksum.SampleChecksum(m.Schema, s)
			must(t, w.Write(s))
			must(t, w.Commit())
			out := filepath.Join(t.TempDir(), "out")
			code, said := dsconvSays("unpack", dst, out)
			if code != exitDone || !strings.Contains(said, "labels-2.csv") {
				t.Fatalf("exit code %d: %s", code, said)
			}
			if string(read(t, filepath.Join(out, source))) != string(image) {
				t.Error("the image is not what it was")
			}
			if b := string(read(t, filepath.Join(out, "labels-2.csv"))); !strings.Contains(b, source) {
				t.Error(b)
			}
		})
	}
}
