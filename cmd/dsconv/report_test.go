package main

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/internal/legible"
)

// badNames are names of files that are not images, with any bytes that a file system allows.
var badNames = []string{"a\xffb.png", "c\nd.png", "e\r\n.png", `"f".png`, `g"h".png`, "i,j.png", "k\x1b[31m.png", "日本.png", `l\n.png`, "=m.png"}

// Reports are UTF-8, each row is one line, and every name can be recovered.
func TestReportsOfBadNames(t *testing.T) {
	dir := t.TempDir()
	images := filepath.Join(dir, "images")
	must(t, os.MkdirAll(filepath.Join(images, "a"), 0o755))
	var b bytes.Buffer
	must(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 4, 4))))
	must(t, os.WriteFile(filepath.Join(images, "a", "good.png"), b.Bytes(), 0o644))
	want := make([]string, 0, len(badNames))
	for _, name := range badNames {
		if err := os.WriteFile(filepath.Join(images, "a", name), []byte("text"), 0o644); err != nil {
			t.Skipf("no file is called %q here: %v", name, err)
		}
		want = append(want, "a/"+name)
	}
	slices.Sort(want)
	same := func(what string, rows []convert.Problem) {
		t.Helper()
		var got []string
		for _, row := range rows {
			got = append(got, row.Path)
		}
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	code, said := dsconvSays("pack", images, filepath.Join(dir, "x.tar"), "--quiet")
	if code != exitSkipped {
		t.Fatalf("%d: %s", code, said)
	}
	table, err := os.ReadFile(filepath.Join(dir, "x.tar.report.csv"))
	must(t, err)
	if n := bytes.Count(table, []byte("\n")); n != 1+len(want) || !utf8.Valid(table) || bytes.ContainsFunc(bytes.ReplaceAll(table, []byte("\n"), nil), legible.Hidden) {
		t.Errorf("%d lines: %q", n, table)
	}
	rows, err := csv.NewReader(bytes.NewReader(table)).ReadAll()
	must(t, err)
	var skips []convert.Problem
	for _, row := range rows[1:] {
		skips = append(skips, convert.Problem{Path: legible.Original(row[0])})
	}
	same("CSV", skips)

	code, said = dsconvSays("pack", images, filepath.Join(dir, "y.tar"), "--json")
	if code != exitSkipped || !utf8.ValidString(said) {
		t.Fatalf("%d: %s", code, said)
	}
	var s summary
	_, object, _ := strings.Cut(said, "{") // behind the progress
	must(t, json.NewDecoder(strings.NewReader("{"+object)).Decode(&s))
	same("--json", s.Skipped)
}
