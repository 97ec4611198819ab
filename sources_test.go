package dsconv_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/synth"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// sourceFolder writes a folder of splits and classes in dir, all with one time.
func sourceFolder(t *testing.T, dir string) string {
	t.Helper()
	root := filepath.Join(dir, "images")
	o := synth.Options{N: 24, Classes: 3, Width: 64, Height: 64, Splits: []synth.Split{{Name: "train", Share: 0.5}, {Name: "val", Share: 0.5}}}
	if err := synth.Write(context.Background(), root, o, nil); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2024, 5, 6, 7, 8, 10, 0, time.UTC)
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, when, when)
	})
	if err != nil {
		t.Fatal(err)
	}
	return root
}

const writeArchives = `
import os, tarfile, zipfile, shutil
root, out = sys.argv[1:]
shutil.make_archive(out + "/made", "zip", root)
shutil.make_archive(out + "/around", "zip", os.path.dirname(root), "images")
shutil.make_archive(out + "/gnu", "gztar", root)
for kind in tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT:
    with tarfile.open(f"{out}/python{kind}.tar", "w", format=kind) as t:
        t.add(root, arcname=".")
with zipfile.ZipFile(out + "/stored.zip", "w") as z:
    for dir, _, files in os.walk(root):
        for f in files:
            z.write(f"{dir}/{f}", os.path.relpath(f"{dir}/{f}", root))
# As ILSVRC2012_img_train.tar is: a tar for each class.
for split in os.listdir(root):
    with tarfile.open(f"{out}/{split}-classes.tar", "w") as t:
        for cls in sorted(os.listdir(f"{root}/{split}")):
            name = f"{out}/{cls}.inner"
            with tarfile.open(name, "w") as inner:
                for f in sorted(os.listdir(f"{root}/{split}/{cls}")):
                    inner.add(f"{root}/{split}/{cls}/{f}", arcname=f)
            t.add(name, arcname=cls + ".tar")
            os.makedirs(f"{out}/classes/{split}", exist_ok=True)
            os.replace(name, f"{out}/classes/{split}/{cls}.tar")
os.makedirs(out + "/zips")
for cls in os.listdir(root + "/val"):
    shutil.make_archive(f"{out}/zips/{cls}", "zip", root + "/val", cls)  # with the folder cls in it
`

// writtenArchives writes the folder as archives, by Python and the programs that are installed.
func writtenArchives(t *testing.T, root, out string) [][]string {
	t.Helper()
	formatcheck.Python(t, "import sys\n"+writeArchives, root, out)
	sources := [][]string{{"made.zip"}, {"around.zip"}, {"gnu.tar.gz"}, {"python0.tar"}, {"python1.tar"}, {"python2.tar"}, {"stored.zip"}}
	for i := range sources {
		sources[i][0] = filepath.Join(out, sources[i][0])
	}
	sources = append(
		sources, []string{"train=" + out + "/train-classes.tar", "val=" + out + "/val-classes.tar"},
		[]string{out + "/classes"}, []string{"train=" + out + "/classes/train", "val=" + out + "/zips"},
		[]string{"train=" + root + "/train", "val=" + out + "/val-classes.tar"}, []string{"val=" + out + "/stored.zip/val", "train=" + out + "/gnu.tar.gz/train"},
	)
	for name, command := range map[string]string{
		"cli.tar": "tar cf $OUT/cli.tar -C $ROOT .", "cli.tgz": "tar czf $OUT/cli.tgz -C $ROOT .", "cli.tar.zst": "tar c -C $ROOT . | zstd -q -o $OUT/cli.tar.zst",
		"info.zip": "cd $ROOT && zip -qr $OUT/info.zip .",
	} {
		c := exec.Command("sh", "-c", "set -e; "+command)
		c.Env = append(os.Environ(), "ROOT="+root, "OUT="+out)
		if text, err := c.CombinedOutput(); err != nil {
			t.Logf("%s is not written: %v %s", name, err, text)
			continue
		}
		sources = append(sources, []string{filepath.Join(out, name)})
	}
	return sources
}

// packedBytes packs sources and returns the bytes of the tar.
func packedBytes(t *testing.T, sources ...string) []byte {
	t.Helper()
	dst := filepath.Join(t.TempDir(), "d.tar")
	p, err := dsconv.PlanPack(context.Background(), sources, dst, dsconv.Options{})
	if err != nil {
		t.Fatalf("%v: %v", sources, err)
	}
	defer p.Close()
	r, err := p.Run(context.Background())
	if err != nil || len(r.Skipped) > 0 {
		t.Fatalf("%v: %v, skipped %v", sources, err, r.Skipped)
	}
	b, err := os.ReadFile(dst)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The same files give the same dataset, whether they lie in a folder or in an archive of any kind.
func TestArchivesEqualTheFolder(t *testing.T) {
	dir := t.TempDir()
	root := sourceFolder(t, dir)
	want := packedBytes(t, root)
	for _, sources := range writtenArchives(t, root, dir) {
		if !bytes.Equal(packedBytes(t, sources...), want) {
			t.Errorf("%v: another dataset than that of the folder", sources)
		}
	}
}

// zipOf writes a zip of the named files, without times.
func zipOf(t *testing.T, path string, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for name, data := range files {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.Write([]byte(data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

const jpegHead = "\xff\xd8\xff\xe0"

// A table of labels is a file of the disk, or else one in the archive; the recipe says which.
func TestLabelsInAnArchive(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	t.Chdir(dir)
	path := zipOf(t, "x.zip", map[string]string{"1.jpg": jpegHead + "1", "2.jpg": jpegHead + "2", "labels.csv": "path,label\n1.jpg,dog\n2.jpg,cat\n"})
	label := func(labels string, want int64, recipe string) {
		t.Helper()
		d, err := dsconv.OpenSource(ctx, path, folder.Config{Labels: labels})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		in, err := d.Info(0)
		if got := d.Meta().Recipe["labels"]; err != nil || in.Label != want || got != filepath.Join(dir, recipe) {
			t.Errorf("%s: label %d, recipe %s, %v", labels, in.Label, got, err)
		}
	}
	label("labels.csv", 1, "x.zip/labels.csv")
	label("x.zip/labels.csv", 1, "x.zip/labels.csv")
	label(filepath.Join(dir, "x.zip/labels.csv"), 1, "x.zip/labels.csv")
	if err := os.WriteFile("labels.csv", []byte("path,label\n1.jpg,ant\n2.jpg,cat\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	label("labels.csv", 0, "labels.csv")
	if _, err := dsconv.OpenSource(ctx, path, folder.Config{Labels: "none.csv"}); err == nil || !strings.Contains(err.Error(), "nor in x.zip") {
		t.Error("a table that is nowhere:", err)
	}
}

// Skips name what the archive refused, and Identify reads no member although they have no times.
func TestRefusedMembersAreSkips(t *testing.T) {
	path := zipOf(t, filepath.Join(t.TempDir(), "x.zip"), map[string]string{"a/1.jpg": jpegHead, "../evil.jpg": jpegHead, "a/notes.zip": "PK", "../evil.txt": ""})
	ds, err := dsconv.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	var skips []string
	for _, k := range ds.(*folder.Dataset).Skips() {
		skips = append(skips, k.Path)
	}
	if got := fmt.Sprint(skips); got != "[../evil.jpg ../evil.txt a/notes.zip/]" {
		t.Error("skips", got)
	}
	var id bytes.Buffer
	if err := ds.(formats.Identifier).Identify(&id); err != nil || !strings.Contains(id.String(), "x.zip") || strings.Contains(id.String(), jpegHead) {
		t.Errorf("identity %q, %v", id.String(), err)
	}
	if r, err := dsconv.NewReport(ds, formats.Patterns{}); err != nil || len(r.Skipped) != 3 || r.Found != 3 {
		t.Errorf("the report: %+v, %v", r, err)
	}
}

// What several sources may not be.
func TestSourcesThatConflict(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"a/cat/1.jpg", "b/cat/1.jpg", "b/cat/2.jpg", "c/dog/3.jpg", "a/readme.txt", "c/readme.txt", "c/cat/4.jpg"} {
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(jpegHead+name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	zipOf(t, "z.zip", map[string]string{"dog/5.jpg": jpegHead, "readme.txt": "z"})
	for _, c := range []struct {
		sources []string
		cfg     folder.Config
		want    string // the keys, or a part of the error
	}{
		{[]string{"a", "c", "z.zip"}, folder.Config{}, "cat/1 cat/4 dog/3 dog/5"},
		{[]string{"x=a", "y=b", "x=z.zip"}, folder.Config{}, "x/cat/1 x/dog/5 y/cat/1 y/cat/2"},
		{[]string{"one=a"}, folder.Config{}, "one/cat/1"},
		{[]string{"a", "b"}, folder.Config{}, "a and b both have cat/1.jpg"},
		{[]string{"a", "b"}, folder.Config{Patterns: formats.Patterns{Exclude: []string{"cat/1.jpg"}}}, "cat/2"},
		{[]string{"a", "none"}, folder.Config{}, "none: there is nothing"},
		{[]string{"a", "cat=b"}, folder.Config{}, "a has cat, which is also the name"},
		{[]string{"a", "..=b"}, folder.Config{}, "cannot be the name of a folder"},
		{nil, folder.Config{}, "no source"},
	} {
		d, err := dsconv.OpenSources(ctx, c.sources, c.cfg, formats.ReadOptions{})
		if err != nil {
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: %v, want %q", c.sources, err, c.want)
			}
			continue
		}
		var keys []string
		for i := range d.Len() {
			in, err := d.Info(i)
			if err != nil {
				t.Fatal(err)
			}
			var s formats.Sample
			if err := d.Read(i, &s); err != nil {
				t.Errorf("%v: %v", c.sources, err)
			}
			keys = append(keys, in.Key)
		}
		if got := strings.Join(keys, " "); got != c.want {
			t.Errorf("%v: keys %s, want %s", c.sources, got, c.want)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, dst := range []string{"b/out.tar", "z.zip"} {
		_, err := dsconv.PlanPack(ctx, []string{"x=a", "y=b", "z=z.zip/dog"}, dst, dsconv.Options{Format: "shard"})
		if err == nil || !strings.Contains(err.Error(), "SRC") {
			t.Errorf("%s: %v", dst, err)
		}
	}
}

// A path stands for several sources only if it is a list of NAME=PATH, and nothing lies there.
func TestSplitSources(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, dir := range []string{"x=y", "a=b,c=d", "dir,e=f", "p/q"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for path, want := range map[string]string{
		"":                          "[{ }]",
		"images":                    "[{ images}]",
		"train=t.tar":               "[{train t.tar}]",
		"train=t.tar,val=v/":        "[{train t.tar} {val v/}]",
		"a=1,b=2,a=3":               "[{a 1} {b 2} {a 3}]",
		"a=1,2,b=3,4":               "[{a 1,2} {b 3,4}]",
		"x=y":                       "[{ x=y}]",
		"a=b,c=d":                   "[{ a=b,c=d}]",
		"one=dir,e=f":               "[{one dir,e=f}]",
		"one=x=y,two=p/q":           "[{one x=y} {two p/q}]",
		"a=1,":                      "[{a 1,}]",
		"a=1,b=":                    "[{a 1,b=}]",
		"=1,b=2":                    "[{ =1,b=2}]",
		"./a=1,b=2":                 "[{ ./a=1,b=2}]",
		"s3://bucket/key?x=1":       "[{ s3://bucket/key?x=1}]",
		"train=https://h/?a=1,b/=2": "[{train https://h/?a=1,b/=2}]",
	} {
		if got := fmt.Sprint(dsconv.SplitSources(path)); got != want {
			t.Errorf("%q: %s, want %s", path, got, want)
		}
	}
}
