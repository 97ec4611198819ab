package dsconv_test

import (
	"bytes"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/internal/durable"
)

// No cell of a report begins like a formula of a spreadsheet, and every path still leads to its file.
func TestReportHasNoFormulas(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	var rows []convert.Problem
	for _, name := range []string{"=cmd", "+1", "-1", "@x", "\uff1d1", "a=b", "ordinary", "\tx", "\"=x"} {
		must(t, os.WriteFile(name, nil, 0o644))
		rows = append(rows, convert.Problem{Path: name, Cause: name, Action: convert.ActionSkipped})
	}
	must(t, convert.WriteTable("report.csv", rows))
	b, err := os.ReadFile("report.csv")
	must(t, err)
	cells, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	must(t, err)
	for i, row := range cells[1:] {
		for _, cell := range row {
			if bytes.ContainsAny([]byte(cell)[:1], "=+-@\t\r") || []rune(cell)[0] == '\uff1d' {
				t.Errorf("a formula: %q", cell)
			}
		}
		if i < 7 && !durable.Exists(row[0]) {
			t.Errorf("%q names no file", row[0])
		}
	}
}

// Without a row there is no report beside the dataset, and none of an earlier run; one that was asked for is written.
func TestReportWithoutRows(t *testing.T) {
	src, dir := pets(t, 4), t.TempDir()
	dst := filepath.Join(dir, "x.tar")
	bad := filepath.Join(src, "bad.jpg")
	for _, c := range []struct{ bad, asked bool }{{}, {bad: true}, {}, {asked: true}} {
		if c.bad {
			must(t, os.WriteFile(bad, []byte("no image"), 0o644))
		} else {
			must(t, os.RemoveAll(bad))
		}
		o := dsconv.Options{}
		o.Create.Replace = true
		if c.asked {
			o.Table = filepath.Join(dir, "asked.csv")
		}
		r, err := dsconv.Pack(t.Context(), src, dst, o)
		must(t, err)
		if durable.Exists(dst+".report.csv") != c.bad || (r.Table != "") != (c.bad || c.asked) || durable.Exists(filepath.Join(dir, "asked.csv")) != c.asked {
			t.Errorf("%+v: the report %q", c, r.Table)
		}
	}
}
