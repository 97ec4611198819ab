package main

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// scans writes a folder of three 16-bit grey images, one of them dark, and an 8-bit one.
func scans(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "images", "a")
	must(t, os.MkdirAll(dir, 0o755))
	r := image.Rect(0, 0, 8, 8)
	dark, bright := image.NewGray16(r), image.NewGray16(r)
	for i := range 64 {
		dark.SetGray16(i%8, i/8, color.Gray16{Y: uint16(i)})
		bright.SetGray16(i%8, i/8, color.Gray16{Y: uint16(900 * i)})
	}
	for name, m := range map[string]image.Image{"1": bright, "2": bright, "dark": dark, "eight": image.NewGray(r)} {
		var b bytes.Buffer
		must(t, png.Encode(&b, m))
		must(t, os.WriteFile(filepath.Join(dir, name+".png"), b.Bytes(), 0o644))
	}
	return filepath.Dir(dir)
}

// A folder of TIFFs of floats: what becomes of their fractions is said, without advice that skips them; statistics are of the pixels that a
// Loader has.
func TestFloatsAreReported(t *testing.T) {
	if !cgo {
		t.Skip("without cgo no TIFF of floats is read")
	}
	src, dir := t.TempDir(), t.TempDir()
	data, err := os.ReadFile(filepath.Join("..", "..", "internal", "image", "codec", "testdata", "tiff", "float1-little.tif"))
	must(t, err)
	must(t, os.Mkdir(filepath.Join(src, "a"), 0o755))
	must(t, os.WriteFile(filepath.Join(src, "a", "f.tif"), data, 0o644))
	for _, c := range []struct {
		args      []string
		told, not string
	}{
		{[]string{"pack", src, filepath.Join(dir, "a.tar"), "--encode", "raw"}, "1 images: a TIFF of floats became 8-bit: fractions are cut", "--color keep"},
		{[]string{"pack", src, filepath.Join(dir, "b.tar"), "--stats"}, "pixels     mean", "not checked"},
		{[]string{"bench", src, "--rounds", "1", "--size", "8", "--batch", "1", "--quiet"}, "a TIFF of floats became 8-bit", "uint16"},
	} {
		code, said := dsconvSays(c.args...)
		if code != exitDone || !strings.Contains(said, c.told) || strings.Contains(said, c.not) || strings.Contains(said, "could not be decoded") {
			t.Errorf("%v: exit code %d, want %q, not %q: %s", c.args[2:], code, c.told, c.not, said)
		}
	}
}

// Every command that clips 16 bits to 8 reports it.
func TestClippedImagesAreReported(t *testing.T) {
	src, dir := scans(t), t.TempDir()
	for _, c := range []struct {
		args []string
		told string // "" for nothing
	}{
		{[]string{"pack", src, filepath.Join(dir, "a.tar"), "--encode", "raw"}, "2 images: 16-bit grey became 8-bit: values above 255 are 255, as in Pillow; --color keep"},
		{[]string{"pack", src, filepath.Join(dir, "b.tar"), "--encode", "raw", "--color", "keep"}, ""},
		{[]string{"pack", src, filepath.Join(dir, "c.tar")}, ""},
		{[]string{"pack", src, filepath.Join(dir, "d.tar"), "--encode", "png", "--color", "gray", "--strict", "--json"}, `"narrowed": [`},
		{[]string{"bench", src, "--rounds", "1", "--size", "8", "--batch", "2", "--quiet"}, "images: 16-bit grey became 8-bit"},
		{[]string{"bench", src, "--rounds", "1", "--size", "8", "--batch", "2", "--quiet", "--dtype", "uint16"}, ""},
	} {
		code, said := dsconvSays(c.args...)
		if code != exitDone || !strings.Contains(said, c.told) || c.told == "" && strings.Contains(said, "-bit") {
			t.Errorf("%v: exit code %d, want %q: %s", c.args[2:], code, c.told, said)
		}
	}
	for name, want := range map[string]int{"a": 2, "b": 0, "c": 0, "d": 2} {
		table, err := os.ReadFile(filepath.Join(dir, name+".tar.report.csv"))
		if (err == nil) != (want > 0) {
			t.Errorf("%s: %v", name, err) // there is no table without rows
		}
		if n := strings.Count(string(table), "values above 255"); n != want || want > 0 && !strings.Contains(string(table), "a/1.png,") {
			t.Errorf("%s: %s", name, table)
		}
	}
}
