package tables_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func utf16Of(s string, bom bool) string {
	var b []byte
	if bom {
		b = []byte("\xff\xfe")
	}
	for _, u := range utf16.Encode([]rune(s)) {
		b = append(b, byte(u), byte(u>>8))
	}
	return string(b)
}

// Tables that cannot be read say in which file, in which line and what was expected.
func TestBadTables(t *testing.T) {
	root := foldertest.Tree(t, "1.jpg", "2.jpg")
	var wide strings.Builder
	for i := range 200_000 {
		fmt.Fprintf(&wide, "c%d,", i)
	}
	var sparse strings.Builder
	for i := range 9000 {
		fmt.Fprintf(&sparse, "{\"path\":\"%d.jpg\",\"c%d\":1}\n", i, i)
	}
	for name, c := range map[string]struct {
		file, table string
		cfg         folder.Config
		want        string
	}{
		"utf-16":           {"l.csv", utf16Of("path,label\n", true), folder.Config{}, "UTF-16: save it as UTF-8"},
		"utf-16, big end":  {"l.csv", "\xfe\xff\x00p", folder.Config{}, "UTF-16: save it as UTF-8"},
		"utf-16, unmarked": {"l.tsv", utf16Of("path\tlabel\n", false), folder.Config{}, "UTF-16: save it as UTF-8"},
		"gzip":             {"l.csv", "\x1f\x8b\x08\x00\x00", folder.Config{}, "it is compressed by gzip; decompress it first"},
		"a workbook":       {"l.xlsx", "PK\x03\x04\x14\x00", folder.Config{}, "it is a zip archive, or an Excel workbook; unpack it, or save the sheet as .csv"},
		"MATLAB":           {"l.mat", "MATLAB 5.0 MAT-file\x00", folder.Config{}, "it is a MATLAB file; write its labels as a .csv"},
		"Parquet, by name": {"l.csv", "PAR1\x15\x04", folder.Config{}, "it is a Parquet file; give it a name that ends in .parquet"},
		"no Parquet":       {"l.parquet", "path,label\n", folder.Config{}, "l.parquet"},
		"latin-1":          {"l.csv", "path,label\n1.jpg,a\n2.jpg,caf\xe9\n", folder.Config{}, "line 3: the byte 0xe9 is not UTF-8 (is it Latin-1?)"},
		"NUL":              {"l.csv", "path,label\n1.jpg,a\x00b\n", folder.Config{}, "line 2: a NUL byte"},
		"empty":            {"l.csv", "", folder.Config{}, "it is empty"},
		"empty lines":      {"l.jsonl", "\n\n", folder.Config{}, "it is empty"},
		"header":           {"l.csv", "path,label\n", folder.Config{}, "no rows"},
		"short row":        {"l.csv", "path,label\n1.jpg,a\n2.jpg\n", folder.Config{}, "line 3: 1 cells, the header has 2"},
		"long row":         {"l.tsv", "path\tlabel\n\n1.jpg\ta\tb\n", folder.Config{}, "line 3: 3 cells, the header has 2"},
		"quote":            {"l.csv", "path,label\n1.jpg,a\"b\n", folder.Config{}, "line 2"},
		"open quote":       {"l.csv", "path,label\n1.jpg,\"a\n2.jpg,b\n", folder.Config{}, "line 3"},
		"twice":            {"l.csv", "path,label\n1.jpg,a\n2.jpg,b\n./1.jpg,b\n", folder.Config{}, `line 4: the path "1.jpg" is a duplicate of line 2`},
		"no path":          {"l.csv", "path,label\n,a\n", folder.Config{}, "line 2: the path is empty"},
		"no names":         {"l.csv", ",\n1.jpg,a\n", folder.Config{}, "no column \"path\" or \"file_name\" among none"},
		"columns twice":    {"l.csv", "path,a,a\n1.jpg,a,b\n", folder.Config{}, `two columns are named "a"`},
		"too many columns": {"l.csv", "path," + wide.String() + "\n", folder.Config{}, "200002 columns, the limit is 10000"},
		"a name a line":    {"l.jsonl", sparse.String(), folder.Config{}, "different names so far"},
		"not an object":    {"l.jsonl", "{\"path\":\"1.jpg\"}\n[1]\n", folder.Config{}, "line 2: not a JSON object such as"},
		"two on a line":    {"l.jsonl", "{\"path\":\"1.jpg\"} {\"path\":\"2.jpg\"}\n", folder.Config{}, "line 1: not a JSON object such as"},
		"null":             {"l.jsonl", "{\"path\":\"1.jpg\"}\nnull\n", folder.Config{}, "line 2: the path is empty"},
		"nested path":      {"l.jsonl", "{\"path\":[\"1.jpg\"]}\n", folder.Config{}, "line 1: path is a list or an object"},
		"nested label":     {"l.jsonl", "{\"path\":\"1.jpg\",\"label\":\"a\"}\n{\"path\":\"2.jpg\",\"label\":{\"id\":1}}\n", folder.Config{}, "line 2: label is a list or an object"},
		"deep":             {"l.jsonl", "{\"path\":" + strings.Repeat("[", 1_000_000), folder.Config{}, "line 1"},
		"escaped NUL":      {"l.jsonl", "{\"path\":\"1.jpg\",\"label\":\"a\\u0000b\"}\n", folder.Config{}, "line 1: label has a NUL"},
		"same field":       {"l.csv", "path,a b,a_b\n1.jpg,x,y\n", folder.Config{LabelColumns: []string{"a b", "a_b"}}, `two fields named "a_b"`},
		"field image":      {"l.csv", "path,image\n1.jpg,x\n", folder.Config{LabelColumns: []string{"image"}}, `two fields named "image"`},
		"escapes":          {"l.csv", "\x1b[31m,label\n1.jpg,x\n", folder.Config{}, `among "\x1b[31m", label`},
		"nothing is there": {"l.csv", "path,label\nx.jpg,a\n", folder.Config{}, "no image to read"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Labels = filepath.Join(t.TempDir(), c.file)
			foldertest.Must(t, os.WriteFile(c.cfg.Labels, []byte(c.table), 0o644))
			_, err := folder.Open(context.Background(), root, c.cfg)
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.cfg.Labels) || len(err.Error()) > 1000 {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestOddTablesAreRead(t *testing.T) {
	root := foldertest.Tree(t, "1.jpg", "a b/2.jpg")
	absolute := filepath.Join(root, "1.jpg")
	for name, table := range map[string]string{
		"the line ends of an old Mac": "path,label\r1.jpg,x\ra b/2.jpg,y\r",
		"of Windows":                  "path,label\r\n1.jpg,x\r\na b/2.jpg,y\r\n",
		"without the last one":        "path,label\n1.jpg,x\na b/2.jpg,y",
		"an absolute path":            "path,label\n" + absolute + ",x\n./a b//2.jpg,y\n",
		"spaces in the header":        " path , label \n1.jpg,x\na b/2.jpg,y\n",
		"a huge cell":                 "path,label,note\n1.jpg,x," + strings.Repeat("n", 5_000_000) + "\na b/2.jpg,y,\n",
	} {
		file := filepath.Join(t.TempDir(), "l.csv")
		foldertest.Must(t, os.WriteFile(file, []byte(table), 0o644))
		d := open(t, root, folder.Config{Labels: file})
		if got := strings.Join(foldertest.Rows(t, d), "|"); got != "1  x|a b/2  y" || len(d.Skips()) != 0 {
			t.Errorf("%s: %q, skipped %v", name, got, d.Skips())
		}
	}
	wd, err := os.Getwd()
	foldertest.Must(t, err)
	rel, err := filepath.Rel(wd, root)
	foldertest.Must(t, err)
	file := filepath.Join(t.TempDir(), "l.csv")
	foldertest.Must(t, os.WriteFile(file, []byte("path,label\n"+absolute+",x\n"), 0o644))
	if d := open(t, rel, folder.Config{Labels: file}); d.Len() != 1 {
		t.Errorf("an absolute path in a relative folder: %d images", d.Len())
	}
}

// Every line of a table ends as a sample or as a skip with its reason.
func TestListedPathsThatAreNoSamples(t *testing.T) {
	root := foldertest.Tree(t, "in/1.jpg", "in/notes.txt", "in/x.heic", "outside.jpg", "in/folder/")
	want := map[string]string{
		"../outside.jpg": "outside the folder", "../../../../../../../../etc/passwd": "outside the folder", "gone.jpg": "does not exist",
		"a\\1.jpg": "write paths with /", "notes.txt": "no extension of an image", "folder": "is a folder", "x.heic": "heic",
		strings.Repeat("k", 65536): "does not exist",
	}
	table := "path,label\n1.jpg,a\n" + filepath.Join(filepath.Dir(root), "other.jpg") + ",a\n"
	for p := range want {
		table += p + ",b\n"
	}
	file := filepath.Join(t.TempDir(), "l.csv")
	foldertest.Must(t, os.WriteFile(file, []byte(table), 0o644))
	d := open(t, filepath.Join(root, "in"), folder.Config{Labels: file})
	got := skipped(d)
	for p, cause := range want {
		if !strings.Contains(got[p], cause) {
			t.Errorf("%.50q: %q, want %q", p, got[p], cause)
		}
	}
	if d.Len() != 1 || len(got) != len(want)+1 {
		t.Errorf("%d samples, %d skipped: %.300q", d.Len(), len(got), got)
	}
}

func TestClassOrders(t *testing.T) {
	root := foldertest.Tree(t, "a/1.jpg", "b/1.jpg")
	for name, c := range map[string]struct{ content, want string }{
		"twice":      {"b\na\n\nb\n", `line 4: the class "b" is a duplicate of line 1`},
		"missing":    {"b\n", `the class "a" is missing; add it on a line of its own`},
		"empty":      {"", `the class "a" is missing`},
		"utf-16":     {utf16Of("a\nb\n", true), "UTF-16"},
		"latin-1":    {"a\nb\n\xe9\n", "line 3: the byte 0xe9"},
		"more":       {"\ufeffc\r\nb\r\na\r\n", ""},
		"old Mac":    {"c\rb\ra", ""},
		"many lines": {"c\nb\na\n" + manyLines(20_000), ""},
	} {
		file := filepath.Join(t.TempDir(), "order.txt")
		foldertest.Must(t, os.WriteFile(file, []byte(c.content), 0o644))
		d, err := folder.Open(context.Background(), root, folder.Config{ClassOrder: file})
		if c.want == "" {
			foldertest.Must(t, err)
			if got := d.Meta().Classes(); got[0] != "c" || got[2] != "a" {
				t.Errorf("%s: classes %.30q", name, got)
			}
		} else if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := folder.Open(context.Background(), root, folder.Config{ClassOrder: "nofile"}); err == nil || !strings.Contains(err.Error(), "nofile") {
		t.Errorf("%v", err)
	}
}

func manyLines(n int) string {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "class %d\n", i)
	}
	return b.String()
}

// FuzzLabels: a file of labels or of classes, whatever is in it, is an error or gives
// samples that fit the schema.
func FuzzLabels(f *testing.F) {
	f.Add([]byte("path,label\n1.jpg,a\nd/2.jpg,b;c\n"), byte(0), "label", ";", "")
	f.Add([]byte("\ufefffile_name\tkind\tage\r\n./1.jpg\t\"a\t7\r\n"), byte(1), "kind,age", "", "natural")
	f.Add([]byte("{\"path\":\"1.jpg\",\"label\":3}\n{\"path\":\"d/2.jpg\",\"x\":[1,{}],\"label\":null}\n"), byte(2), "", "", "")
	f.Add([]byte("path,label\r1.jpg,2\rd/2.jpg,10\r../x.jpg,a\r"), byte(0), "", ",", "c\na\nb")
	f.Add([]byte("\xff\xfep\x00a\x00"), byte(0), "", "", "a\na")
	f.Add([]byte("path,label\n/1.jpg,café\n1.jpg,\"a\nb\"\n"), byte(0), "label", "é", "\x00")
	f.Add([]byte("[{\"file_name\":\"1.jpg\",\"label\":\"a\"},[\"d/2.jpg\",\"b\"]]"), byte(3), "", "", "")
	f.Add([]byte("{\"1.jpg\":\"a\",\n\"d/2\":\"b\"}"), byte(3), "", "", "n01440764 tench\n")
	f.Add([]byte("/x/y/1.jpg a\n\\x\\y\\d\\2.jpg b\n"), byte(4), "path=path,label=label", "", "")
	f.Add([]byte("1\n2\n"), byte(4), "", "", "")
	root := f.TempDir()
	for _, name := range []string{"1.jpg", "d/2.jpg"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			f.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, ext byte, columns, sep, order string) {
		dir := t.TempDir()
		cfg := folder.Config{Labels: filepath.Join(dir, "l"+[]string{".csv", ".tsv", ".jsonl", ".json", ".txt"}[ext%5]), LabelSep: sep}
		foldertest.Must(t, os.WriteFile(cfg.Labels, b, 0o644))
		if columns != "" {
			cfg.LabelColumns = strings.Split(columns, ",")
		}
		if cfg.ClassOrder = order; order != "" && order != "natural" {
			cfg.ClassOrder = filepath.Join(dir, "order")
			foldertest.Must(t, os.WriteFile(cfg.ClassOrder, []byte(order), 0o644))
		}
		d, err := folder.Open(context.Background(), root, cfg)
		if err != nil {
			return
		}
		schema := d.Meta().Schema
		foldertest.Must(t, schema.Validate())
		var s formats.Sample
		for i := range d.Len() {
			foldertest.Must(t, d.Read(i, &s))
			if len(s.Values) != len(schema) || len(s.Columns) != len(d.Meta().Columns) {
				t.Fatalf("%d values, %d columns", len(s.Values), len(s.Columns))
			}
			for k, field := range schema {
				if x, ok := s.Values[k].Int64(); ok && (x < formats.NoLabel || x >= int64(len(field.Classes))) {
					t.Fatalf("label %d of %d classes", x, len(field.Classes))
				}
			}
		}
		if d.Len()+len(d.Skips()) < 2 {
			t.Fatalf("%d samples and %d skipped of 2 files", d.Len(), len(d.Skips()))
		}
	})
}

func open(t *testing.T, root string, cfg folder.Config) *folder.Dataset {
	t.Helper()
	d, err := folder.Open(context.Background(), root, cfg)
	foldertest.Must(t, err)
	return d
}

func skipped(d *folder.Dataset) map[string]string {
	m := map[string]string{}
	for _, s := range d.Skips() {
		m[s.Path] = s.Cause
	}
	return m
}
