package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/monitor"
)

var update = flag.Bool("update", false, "write the golden files again")

func htmlOf(t *testing.T, r *bench.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func markdownOf(t *testing.T, r *bench.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteMarkdown(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// minimal is what bench.ReadReport accepts at least.
func minimal() *bench.Report { return &bench.Report{Datasets: []bench.Dataset{{Path: "a.tar"}}} }

func TestMarkdown(t *testing.T) {
	golden := filepath.Join("testdata", "full.md")
	got := markdownOf(t, full())
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
	if !strings.HasPrefix(got, Heading) {
		t.Errorf("it begins with %.40q", got)
	}
}

// The page has every section, every table and every cell of the report.
func TestPageSaysEverything(t *testing.T) {
	text := regexp.MustCompile(`(?s)<script.*?</script>|<!--.*?-->`).ReplaceAllString(htmlOf(t, full()), "")
	unescape := strings.NewReplacer("&#34;", `"`, "&#39;", "'", "&lt;", "<", "&gt;", ">", "&#43;", "+", "&amp;", "&")
	text = unescape.Replace(text)
	d := describe(full())
	if len(d.Sections) != 11 {
		t.Errorf("%d sections", len(d.Sections))
	}
	for _, s := range d.Sections {
		if !strings.Contains(text, "<h2>"+s.Title+"</h2>") || !strings.Contains(text, `href="#`+s.ID+`">`+s.Short) {
			t.Errorf("the page lacks the section %s", s.Title)
		}
		for _, b := range s.Blocks {
			if b.Table == nil {
				continue
			}
			for _, r := range b.Table.Rows {
				for _, c := range r.Cells {
					if !strings.Contains(text, ">"+c+"<") {
						t.Errorf("%s: the page lacks %q", s.Title, c)
					}
				}
			}
		}
	}
}

// The policy allows the style and the scripts of the page by their sums, and nothing from elsewhere.
func TestPolicy(t *testing.T) {
	text := htmlOf(t, full())
	if !strings.HasPrefix(text, Mark) {
		t.Errorf("it begins with %.80q", text)
	}
	inline := regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(text, -1)
	if len(inline) != 3 {
		t.Fatalf("%d scripts and styles", len(inline))
	}
	want := policy(inline[0][1], inline[1][1], inline[2][1])
	if !strings.Contains(want, "default-src 'none'") || strings.Contains(want, "unsafe") {
		t.Error(want)
	}
	if got := strings.ReplaceAll(strings.ReplaceAll(text, "&#39;", "'"), "&#43;", "+"); !strings.Contains(got, `content="`+want+`"`) {
		t.Errorf("the page lacks the policy %s", want)
	}
	body := regexp.MustCompile(`(?s)<!--.*?-->|<script>.*?</script>`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?i)(?:src|href|action)\s*=\s*"([^"]*)"|url\(([^)]*)\)|@import`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[0])
		}
	}
	for _, licence := range []string{"Apache License", "The Apache Software Foundation", "Mike Bostock", "Baidu"} {
		if !strings.Contains(text, licence) {
			t.Errorf("the page lacks the licence of %s", licence)
		}
	}
}

// hostile is text that would be markup, code or the end of a script, and moves a terminal's cursor.
const hostile = "</script><script>window.broken=1</script>--><b>\"'`|*_[x](http://example.org/)\n\n# h\n\x1b[31m\u202e{{.}}<img src=x onerror=window.broken=1>"

// fill sets each text of a value to s, and each number to x.
func fill(v reflect.Value, s string, x float64) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), s, x)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s, x)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), s, x)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]any]() && s != "" {
			v.Set(reflect.ValueOf(map[string]any{s: s}))
		}
	case reflect.String:
		if s != "" {
			v.SetString(s)
		}
	case reflect.Float64:
		if x != 0 {
			v.SetFloat(x)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	r := full()
	fill(reflect.ValueOf(r), hostile, 0)
	text := htmlOf(t, r)
	if n := strings.Count(text, "<script"); n != 3+strings.Count(must(library()), "<script") {
		t.Errorf("%d scripts", n)
	}
	body := regexp.MustCompile(`(?s)<script>.*?</script>|<!--.*?-->`).ReplaceAllString(text, "")
	for _, bad := range []string{"<img", "<b>", "\x1b", "\u202e", "onerror=window.broken=1>"} {
		if strings.Contains(body, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
	markdown := markdownOf(t, r)
	for _, bad := range []string{"\x1b", "\u202e", "\n# h"} {
		if strings.Contains(markdown, bad) {
			t.Errorf("the Markdown contains %q", bad)
		}
	}
	columns := 0
	for line := range strings.Lines(markdown) {
		if left := active(strings.TrimSuffix(line, "\n")); !strings.HasPrefix(line, "    ") && strings.ContainsAny(left, "<[]_`~&$") {
			t.Errorf("the Markdown has the line %sof which this is active: %s", line, left)
		}
		cells := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns == 0 || cells == 0 {
			columns = cells
		}
		if cells != columns {
			t.Errorf("%d cells instead of %d: %s", cells, columns, line)
		}
	}
}

// active is a line of Markdown without escaped characters and code spans.
func active(line string) string {
	var b strings.Builder
	for i := 0; i < len(line); {
		run := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		switch {
		case line[i] == '\\':
			i += 2
		case run > 0:
			end := regexp.MustCompile("[^`]`{" + strconv.Itoa(run) + "}([^`]|$)").FindStringIndex(line[i+run:])
			if end == nil {
				return b.String() + line[i:] // a code span that does not end
			}
			i += run + end[0] + 1 + run
		default:
			b.WriteByte(line[i])
			i++
		}
	}
	return b.String()
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// Whatever numbers a report has, its page is whole: the charts' data is JSON.
func TestNumbers(t *testing.T) {
	data := regexp.MustCompile(`(?s)id="charts">(.*?)</script>`)
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1, 1e300, 1e-300} {
		r := full()
		fill(reflect.ValueOf(r), "", x)
		r.Options.Consume, r.Merged[0].Options.Consume = 0, 0 // the table of options has them as the JSON does
		text := htmlOf(t, r)
		if m := data.FindStringSubmatch(text); m == nil || !json.Valid([]byte(m[1])) {
			t.Errorf("%v: no JSON", x)
		}
		for _, s := range []string{text[strings.Index(text, "<main"):strings.Index(text, "<footer")], markdownOf(t, r)} {
			if strings.Contains(s, "NaN") || strings.Contains(s, "Inf") || strings.Contains(s, "e+") {
				t.Errorf("%v: the page shows a number that is none", x)
			}
		}
	}
}

func TestFigures(t *testing.T) {
	for got, want := range map[string]string{
		seconds(0): "0 s", seconds(0.0421): "42.1 ms", seconds(41.23): "41.2 s", seconds(99.96): "100 s", seconds(9000): "2.50 h", seconds(1234): "1,234 s",
		size(0): "0 B", size(999): "999 B", size(5.23e9): "5.23 GB", size(999_999): "1.00 MB", size(-2e6): "−2.00 MB", seconds(-0.26): "−0.26 s", size(3e15): "3,000 TB",
		share(0.625): "63 %", share(-0.03): "−3 %", change(0.06): "+6 %", change(-0.76): "−76 %", change(0.001): "0 %",
		count(1234567): "1,234,567", count(-1234): "−1,234", count(999): "999", microseconds(0.4): "0.40 µs",
	} {
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "a_b": `a\_b`, "- a": `\- a`, "# a": `\# a`, "1. a": `1\. a`, "12) a": `12\) a`, "41.2 s": `41\.2 s`, "a-b": "a-b", "<b>": `\<b>`, "> q": `\> q`,
		"a|b": `a\|b`, "&lt;": `\&lt;`, "写真": "写真",
	} {
		if got := escapeLine(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a": "`a`", "`": "`` ` ``", "a``b": "```a``b```", "a|b": "`a\\|b`", "": ""} {
		if got := codeSpan(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// A long run does not make a page that nobody can open.
func TestLongRun(t *testing.T) {
	r := full()
	r.Datasets[0].Timeline = timelineOf(200, 300_000)
	m := monitorRecord()
	for len(m.Samples) < 200_000 {
		m.Samples = append(m.Samples, m.Samples...)
	}
	r.Monitor = m
	short, long := len(htmlOf(t, full())), len(htmlOf(t, r))
	if long > short+1_500_000 {
		t.Errorf("%d bytes, of a short run %d", long, short)
	}
	if text := markdownOf(t, r); !strings.Contains(text, "Shown are 32 of 200 workers. Shown are the first 4,000 batches.") {
		t.Error("the page does not say what it leaves out")
	}
}

func TestNothingMeasured(t *testing.T) {
	r := minimal()
	r.Monitor = &monitor.Record{}
	r.Datasets[0].Timeline = &bench.Timeline{}
	for _, text := range []string{htmlOf(t, r), markdownOf(t, r)} {
		if !strings.Contains(text, "An epoch takes 0 s.") {
			t.Error("the page has no sentence")
		}
	}
	for _, write := range []func() error{
		func() error { return WriteHTML(&bytes.Buffer{}, &bench.Report{}) },
		func() error { return WriteMarkdown(&bytes.Buffer{}, &bench.Report{}) },
		func() error { return WriteHTML(&bytes.Buffer{}, nil) },
		func() error { return WriteMarkdown(nil, minimal()) },
	} {
		if write() == nil {
			t.Error("no error")
		}
	}
	for _, write := range []func() error{
		func() error { return WriteHTML(fullDisk{}, minimal()) },
		func() error { return WriteMarkdown(fullDisk{}, minimal()) },
	} {
		if err := write(); !errors.Is(err, errFull) {
			t.Errorf("%v", err)
		}
	}
}

var errFull = errors.New("disk full")

// fullDisk is a writer to a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// Reports that were saved by earlier versions have pages too.
func TestKeptReports(t *testing.T) {
	files, err := filepath.Glob("../results/bench-*.json")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := bench.ReadReport(f)
		f.Close()
		if err != nil {
			t.Fatal(file, err)
		}
		if text := markdownOf(t, r); !strings.Contains(text, "## Stages") || !strings.Contains(htmlOf(t, r), `"kind":"bars"`) {
			t.Errorf("%s: %.200s", file, text)
		}
	}
}
