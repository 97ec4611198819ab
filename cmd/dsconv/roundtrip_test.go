package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

// TestRoundTrips packs random folders and tables of labels, edits the dataset, unpacks it and packs
// the folder again with the command that unpack prints: keys, images, labels, classes, splits and
// columns are the same. DSCONV_ROUNDTRIPS is the number of rounds.
func TestRoundTrips(t *testing.T) {
	n := 40
	if s := os.Getenv("DSCONV_ROUNDTRIPS"); s != "" {
		_, err := fmt.Sscan(s, &n)
		must(t, err)
	}
	names := outputsOf()
	for i := range n {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			c := &collection{t: t, r: rand.New(rand.NewPCG(15, uint64(i))), dir: t.TempDir()}
			c.make()
			first := filepath.Join(t.TempDir(), names[i%len(names)])
			c.pack(first)
			c.edit(first)
			again := filepath.Join(t.TempDir(), names[(i+i/len(names)+1)%len(names)])
			sameAgain(t, first, again, c.recipe...)
		})
	}
}

// sameAgain unpacks a dataset and packs the folder again.
func sameAgain(t *testing.T, first, again string, recipe ...string) {
	t.Helper()
	back := filepath.Join(t.TempDir(), "it's back")
	args := []string{"pack", back, "DST"}
	if _, command, ok := strings.Cut(succeeds(t, "unpack", first, back), "to pack it again: dsconv "); ok {
		words, err := exec.Command("sh", "-c", `printf '%s\0' `+command).Output()
		must(t, err)
		args = strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00")
	}
	args[2] = again
	args = slices.Concat(args, []string{reportAside(t)}, recipe)
	code, said := dsconvSays(args...)
	if code != exitDone {
		t.Fatalf("%q: exit code %d: %s", args, code, said)
	}
	want, got := described(t, first), described(t, again)
	for i := range min(len(want.Samples), len(got.Samples)) {
		a, b := &want.Samples[i], &got.Samples[i]
		b.Source = a.Source // it may be another file's name now
		if !reflect.DeepEqual(a, b) {
			t.Errorf("sample %d became\n%+v\nwanted\n%+v", i, *b, *a)
		}
	}
	if len(want.Samples) != len(got.Samples) {
		t.Errorf("%d samples became %d", len(want.Samples), len(got.Samples))
	}
	want.Samples, got.Samples = nil, nil
	if !reflect.DeepEqual(want, got) {
		t.Errorf("it became\n%+v\nwanted\n%+v", got, want)
	}
}

// TestWrittenRoundTrips does the same to the datasets that earlier versions wrote, where images'
// bytes were kept: some have fields of every kind.
func TestWrittenRoundTrips(t *testing.T) {
	if !cgo {
		t.Skip("LMDB and HDF5 are read, not written")
	}
	archives, err := filepath.Glob("../../testdata/written/*.tar.zst")
	must(t, err)
	for _, archive := range archives {
		w := newWritten(t, archive)
		for name := range w.expected {
			variant, base, _ := strings.Cut(name, "/")
			if slices.Contains([]string{"keep", "zstd", "multi", "two", "unlabelled", "fields"}, variant) {
				t.Run(name, func(t *testing.T) { sameAgain(t, w.path(name), filepath.Join(t.TempDir(), base)) })
			}
		}
	}
}

// collection is a folder of images and perhaps a table of labels.
type collection struct {
	t     *testing.T
	r     *rand.Rand
	dir   string
	paths []string
	flags []string
	// recipe are those of flags that say how images are stored.
	recipe []string
	// labelled are the columns of the table that are labels; others are the rest.
	labelled, others []string
}

// nasty are names of files and folders, of classes and of columns.
var nasty = []string{
	"a", "b", "cat", "dog", "with blank", "x,y", `say "hi"`, "semi;colon", "b|ar", "ünïcode", "日本語", "-dash", "a.b", ".hidden", "~",
	"%41", `back\slash`, "labels", "labels.csv", "labels.json", "it's", "{a}", "[b]", "*", "tab\there", "new\nline", "split", "path",
	"key", "file_name", "image", "train", "TRAIN", "test", "val", "None", "nan", "null", strings.Repeat("long", 40), "x_y", "0", "1", "10",
}

// names are names of additional columns.
func (c *collection) names(n int, not ...string) []string {
	var list []string
	for _, k := range c.r.Perm(len(nasty)) {
		if len(list) < n && !slices.Contains(not, nasty[k]) {
			list = append(list, nasty[k])
		}
	}
	return list
}

func (c *collection) one(of []string) string { return of[c.r.IntN(len(of))] }

func (c *collection) make() {
	splits := []string{""}
	if c.r.IntN(3) == 0 {
		splits = []string{"train/", "val/", "test/"}[:1+c.r.IntN(3)]
	}
	folders := c.names(1 + c.r.IntN(4))
	if c.r.IntN(5) == 0 {
		folders = []string{""}
	}
	seen := map[string]bool{}
	for range 3 + c.r.IntN(8) {
		stem, ext := c.one(splits)+c.one(folders)+"/"+c.one(nasty), c.one([]string{".jpg", ".png", ".JPG", ".jpeg", ".PNG"})
		stem = strings.TrimPrefix(stem, "/")
		if seen[strings.ToLower(stem+ext)] {
			continue
		}
		seen[strings.ToLower(stem+ext)] = true
		c.image(stem + ext)
	}
	if c.r.IntN(3) == 0 {
		must(c.t, os.MkdirAll(filepath.Join(c.dir, "images", c.one(splits), "empty class"), 0o755))
	}
	if c.r.IntN(3) > 0 {
		c.table()
	}
	c.flags = append(c.flags, [][]string{nil, {"--class-order=natural"}, {"--split=a=0.5,b=0.5"}, {"--split=none"}}[c.r.IntN(4)]...)
	if c.r.IntN(5) == 0 {
		c.recipe = []string{"--encode=raw", "--resize=exact:4x4"}
		c.flags = append(c.flags, c.recipe...)
	}
}

// image writes a small image that differs from all others.
func (c *collection) image(path string) {
	img := image.NewNRGBA(image.Rect(0, 0, 3+c.r.IntN(4), 3+c.r.IntN(4)))
	for i := range img.Rect.Dx() {
		img.Set(i, i%2, color.NRGBA{uint8(c.r.Uint32()), uint8(c.r.Uint32()), uint8(len(c.paths)), 255})
	}
	var b bytes.Buffer
	if strings.EqualFold(filepath.Ext(path), ".png") {
		must(c.t, png.Encode(&b, img))
	} else {
		must(c.t, jpeg.Encode(&b, img, nil))
	}
	to := filepath.Join(c.dir, "images", path)
	must(c.t, os.MkdirAll(filepath.Dir(to), 0o755))
	must(c.t, os.WriteFile(to, b.Bytes(), 0o600))
	c.paths = append(c.paths, path)
}

// table writes the labels of the images, as CSV or as JSON lines.
func (c *collection) table() {
	kind := c.r.IntN(4) // one label, several columns, several labels in a cell, numbers
	c.labelled = []string{"label"}
	if kind == 1 {
		c.labelled = []string{"kind", "size of it"}
	}
	c.others = c.names(c.r.IntN(4), "path", "file_name", "kind", "size_of_it")
	classes := slices.DeleteFunc(c.names(2+c.r.IntN(4)), func(s string) bool { return strings.Trim(s, "01nalu") == "" })
	classes = append(classes, "z")
	header := slices.Concat([]string{"path"}, c.labelled, c.others)
	rows := [][]string{}
	for _, p := range c.paths {
		row := []string{p}
		for range c.labelled {
			row = append(row, c.cell(kind, classes))
		}
		for _, name := range c.others {
			value := c.one(append(nasty, "", " padded ", "two\nlines", "cr\r\nlf"))
			if name == "split" {
				value = c.one([]string{"train", "val", "my split"})
			}
			row = append(row, value)
		}
		rows = append(rows, row)
	}
	c.write(header, rows)
	c.flags = append(c.flags, "--label-columns="+strings.Join(c.labelled, ","))
	switch kind {
	case 2:
		c.flags = append(c.flags, "--label-sep=@")
	case 3:
		c.flags = append(c.flags, "--label-type=float")
	}
	if slices.Contains(c.others, "split") && c.r.IntN(2) == 0 {
		c.flags = append(c.flags, "--split=split")
	}
}

// cell returns a row's label cell.
func (c *collection) cell(kind int, classes []string) string {
	if c.r.IntN(6) == 0 {
		return ""
	}
	switch kind {
	case 2:
		return strings.Join(classes[c.r.IntN(len(classes)):], "@")
	case 3:
		return fmt.Sprint(float32(c.r.NormFloat64()))
	}
	return c.one(classes)
}

func (c *collection) write(header []string, rows [][]string) {
	var b bytes.Buffer
	name := filepath.Join(c.dir, "table.csv")
	if c.r.IntN(2) == 0 {
		name = filepath.Join(c.dir, "table.jsonl")
		for _, row := range rows {
			object := map[string]string{}
			for i, cell := range row {
				object[header[i]] = cell
			}
			must(c.t, json.NewEncoder(&b).Encode(object))
		}
	} else {
		w := csv.NewWriter(&b)
		must(c.t, w.Write(header))
		must(c.t, w.WriteAll(rows))
	}
	must(c.t, os.WriteFile(name, b.Bytes(), 0o600))
	c.flags = append(c.flags, "--labels="+name)
}

func (c *collection) pack(dst string) {
	args := append([]string{"pack", filepath.Join(c.dir, "images"), dst, reportAside(c.t)}, c.flags...)
	if code, said := dsconvSays(args...); code != exitDone && code != exitSkipped {
		c.t.Skipf("%q: exit code %d: %s", args, code, said)
	}
}

// edit removes a sample, relabels others and adds an image.
func (c *collection) edit(dst string) {
	d := described(c.t, dst)
	if len(d.Samples) > 2 && c.r.IntN(2) == 0 {
		succeeds(c.t, "rm", dst, "--key", d.Samples[c.r.IntN(len(d.Samples))].Key)
	}
	if c.r.IntN(2) == 0 {
		c.relabel(dst, &d)
	}
	if c.labelled == nil && c.r.IntN(2) == 0 {
		c.image(filepath.Join(filepath.Dir(c.one(c.paths)), "added later.png"))
		succeeds(c.t, "add", dst, filepath.Join(c.dir, "images"), reportAside(c.t))
	}
}

// relabel changes a sample's split and, if it has them, its label and columns.
func (c *collection) relabel(dst string, d *formatcheck.Description) {
	samples := described(c.t, dst).Samples
	s := samples[c.r.IntN(len(samples))]
	header, row := []string{"key", "split"}, []string{s.Key, c.one([]string{"train", "new split", ""})}
	if label := d.Schema.LabelIndex(); label >= 0 && d.Schema[label].Kind == "label" {
		header, row = append(header, d.Schema[label].Name), append(row, c.one([]string{"new class", "a;b|c,d/e f", ""}))
	}
	for _, name := range c.others {
		if !slices.Contains(header, name) && !slices.Contains([]string{"key", "path", "file_name"}, name) {
			header, row = append(header, name), append(row, c.one(nasty))
		}
	}
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	must(c.t, w.WriteAll([][]string{header, row}))
	name := filepath.Join(c.t.TempDir(), "new.csv")
	must(c.t, os.WriteFile(name, b.Bytes(), 0o600))
	succeeds(c.t, "relabel", dst, name, "--new-class", "--new-split")
}
