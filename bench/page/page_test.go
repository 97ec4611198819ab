package page

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dsconv/dsconv/bench"
)

func htmlOf(t *testing.T, r *bench.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// minimal is what bench.ReadReport accepts at least.
func minimal() *bench.Report { return &bench.Report{Datasets: []bench.Dataset{{Path: "a.tar"}}} }

// The page has the whole report.
func TestPageHasTheReport(t *testing.T) {
	text := htmlOf(t, full())
	m := regexp.MustCompile(`(?s)id="report">(.*?)</script>`).FindStringSubmatch(text)
	if m == nil {
		t.Fatalf("%.600s", text)
	}
	var got, want map[string]any
	data, err := json.Marshal(full())
	if err := errors.Join(err, json.Unmarshal(data, &want), json.Unmarshal([]byte(m[1]), &got)); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if most := len(data) + 60_000; len(text) > most {
		t.Errorf("the page has %d bytes", len(text))
	}
}

// The policy allows the style and the script of the page by their sums, and nothing from elsewhere.
func TestPolicy(t *testing.T) {
	text := htmlOf(t, full())
	if !strings.HasPrefix(text, Mark) {
		t.Errorf("it begins with %.80q", text)
	}
	inline := regexp.MustCompile(`(?s)<(?:script|style)>(.*?)</(?:script|style)>`).FindAllStringSubmatch(text, -1)
	if len(inline) != 2 {
		t.Fatalf("%d scripts and styles", len(inline))
	}
	want := policy(inline[0][1], inline[1][1])
	if !strings.Contains(want, "default-src 'none'") || strings.Contains(want, "unsafe") {
		t.Error(want)
	}
	if got := strings.ReplaceAll(strings.ReplaceAll(text, "&#39;", "'"), "&#43;", "+"); !strings.Contains(got, `content="`+want+`"`) {
		t.Errorf("the page lacks the policy %s", want)
	}
	body := regexp.MustCompile(`(?s)<script.*?</script>`).ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?i)(?:src|href|action)\s*=\s*"([^"]*)"|url\(([^)]*)\)|@import`).FindAllStringSubmatch(body, -1) {
		if !strings.HasPrefix(m[1], "#") && !strings.HasPrefix(m[1], "data:") {
			t.Errorf("the page refers to %s", m[0])
		}
	}
}

// hostile is text that would be markup, code or the end of a script, and moves a terminal's cursor.
const hostile = "</script><script>window.broken=1</script>--><b>\"'`|*_[x](http://example.org/)\n\n# h\n\x1b[31m\u202e{{.}}<img src=x onerror=window.broken=1>"

// fill sets each text of a value to s.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			fill(v.Elem(), s)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fill(v.Field(i), s)
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Map:
		if v.Type() == reflect.TypeFor[map[string]any]() {
			v.Set(reflect.ValueOf(map[string]any{s: s}))
		}
	case reflect.String:
		v.SetString(s)
	}
}

func TestHostileTexts(t *testing.T) {
	r := full()
	fill(reflect.ValueOf(r), hostile)
	text := htmlOf(t, r)
	if n := strings.Count(text, "<script"); n != 2 {
		t.Errorf("%d scripts", n)
	}
	for _, bad := range []string{"<img", "<b>", "\x1b"} {
		if strings.Contains(text, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
}

func TestErrors(t *testing.T) {
	noNumber := minimal()
	noNumber.Datasets[0].EpochSeconds = math.NaN()
	for name, write := range map[string]func() error{
		"no datasets": func() error { return WriteHTML(&bytes.Buffer{}, &bench.Report{}) },
		"no number":   func() error { return WriteHTML(&bytes.Buffer{}, noNumber) },
	} {
		if err := write(); err == nil || !strings.HasPrefix(err.Error(), "page.WriteHTML: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := WriteHTML(fullDisk{}, minimal()); !errors.Is(err, errFull) {
		t.Error(err)
	}
}

var errFull = errors.New("disk full")

// fullDisk is a writer to a full disk.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

// kept are reports that were saved by earlier versions.
func kept(t *testing.T) (list []*bench.Report) {
	t.Helper()
	files, err := filepath.Glob("../../lab/results/bench-*.json")
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
		list = append(list, r)
	}
	return list
}
