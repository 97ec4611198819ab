package page

import (
	"encoding/base64"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/dsconv/dsconv/bench"
)

// shown writes the report's page to a file and opens it.
func (b *tab) shown(r *bench.Report) string {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	f, err := os.Create(file)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := WriteHTML(f, r); err != nil {
		b.t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.t.Fatal(err)
	}
	b.load(file)
	b.frames()
	return file
}

// clean reports an error for each complaint, and for each request but those for the files and for data in the page.
func (b *tab) clean(files ...string) {
	b.t.Helper()
	for _, text := range b.complaints() {
		b.t.Error(text)
	}
	for _, url := range b.requests() {
		allowed := strings.HasPrefix(url, "data:")
		for _, f := range files {
			allowed = allowed || url == "file://"+f
		}
		if !allowed {
			b.t.Errorf("the page asked for %s", url)
		}
	}
}

// picture writes what the page looks like to DSCONV_PAGE_PICTURES, for people, if that is set.
func (b *tab) picture(name string) {
	b.t.Helper()
	dir := os.Getenv("DSCONV_PAGE_PICTURES")
	if dir == "" {
		return
	}
	var size [2]int
	b.eval("[innerWidth, document.documentElement.scrollHeight]", &size)
	b.size(size[0], size[1])
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", nil, &shot)
	b.size(size[0], 800)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page-"+name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// size sets the size of the window.
func (b *tab) size(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
	b.frames()
	b.frames()
}

// drawn is what the page's script made of a chart.
type drawn struct {
	Kind, Text     string
	Shapes, Wanted int
	Width, Height  float64
	Drawn          float64 // the picture's width
}

// figures looks at all charts. Wanted is how many shapes a chart has at least: one for each bar that is not empty, each line, and the spans
// that are shown at first.
const figures = `(() => {
	const data = JSON.parse(document.getElementById("charts").textContent);
	const count = { bars: d => d.series.flatMap(s => s.values).filter(Boolean).length, lines: d => d.panels.flatMap(p => p.lines).length,
		lanes: d => d.spans.filter(s => s[4] <= d.shown).length };
	return [...document.querySelectorAll("figure.chart")].map((f, i) => {
		const svg = f.querySelector("svg"), box = f.getBoundingClientRect();
		return { Kind: data[i].kind, Wanted: count[data[i].kind](data[i].data), Text: svg ? svg.textContent : "",
			Shapes: svg ? [...svg.querySelectorAll("path")].filter(p => p.getAttribute("d").length > 10).length : 0, Width: box.width, Height: box.height, Drawn: svg ? svg.getBoundingClientRect().width : 0 };
	});
})()`

// checkCharts looks at all charts of the page; there are want of them.
func (b *tab) checkCharts(want int) {
	b.t.Helper()
	var list []drawn
	b.eval(figures, &list)
	if len(list) != want || want == 0 {
		b.t.Errorf("%d charts, want %d", len(list), want)
	}
	for i, d := range list {
		if d.Shapes < max(d.Wanted, 1) || d.Text == "" || d.Width < 250 || d.Height < 60 || math.Abs(d.Width-d.Drawn) > 2 {
			b.t.Errorf("chart %d is not drawn: %+v", i, d)
		}
	}
}

// charts is how many charts a report's page has.
func charts(r *bench.Report) (n int) {
	for _, s := range describe(r).Sections {
		for _, b := range s.Blocks {
			if b.Chart != nil {
				n++
			}
		}
	}
	return n
}

func (b *tab) prefers(theme string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": theme}}}, nil)
	b.frames()
}

// heights are where the pointer meets something, in pixels from the top of a chart: a bar, the upper panel, the loop's lane.
var heights = map[string]int{"bars": 50, "lines": 77, "lanes": 53}

// hover moves the pointer to a chart.
func (b *tab) hover(chart int, kind string) {
	b.t.Helper()
	var at [2]float64
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelectorAll("figure.chart .canvas")[%d];
		scrollTo({ top: e.getBoundingClientRect().y + scrollY - 300, behavior: "instant" });
		const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + %d]; })()`, chart, heights[kind]), &at)
	b.frames()
	b.call("Input.dispatchMouseEvent", map[string]any{"type": "mouseMoved", "x": at[0], "y": at[1]}, nil)
	b.frames()
}

// The page as people see it: drawn, in light and dark, wide and narrow, with the pointer on each chart.
func TestInChromium(t *testing.T) {
	b := newTab(t)
	r := full()
	file := b.shown(r)
	b.checkCharts(charts(r))
	b.picture("light")
	ink := func() (colors []string) {
		b.eval(`[getComputedStyle(document.body).backgroundColor, document.querySelector("figure.chart svg text").getAttribute("fill")]`, &colors)
		return colors
	}
	light := ink()
	b.prefers("dark")
	b.picture("dark")
	dark := ink()
	if light[0] == dark[0] || light[1] == dark[1] {
		t.Errorf("light %v, dark %v", light, dark)
	}
	for choice, want := range map[string][]string{"light": light, "dark": dark} {
		b.eval(`document.querySelector("[data-choice=`+choice+`]").click()`, nil)
		if got := ink(); got[0] != want[0] || got[1] != want[1] {
			t.Errorf("%s was chosen: %v, want %v", choice, got, want)
		}
	}
	b.checkCharts(charts(r))
	for i := range charts(r) {
		chart := fmt.Sprintf(`document.querySelectorAll("figure.chart")[%d]`, i)
		var kind string
		b.eval(fmt.Sprintf(`JSON.parse(document.getElementById("charts").textContent)[%d].kind`, i), &kind)
		b.hover(i, kind)
		var said string
		b.eval(chart+`.querySelector(".tip")?.textContent ?? ""`, &said)
		if said == "" {
			t.Errorf("chart %d, %s: the pointer on it shows nothing", i, kind)
		}
	}
	b.size(390, 800)
	var width int
	b.eval("document.documentElement.scrollWidth", &width)
	if width > 390 {
		t.Errorf("on a telephone the page is %d pixels wide", width)
	}
	b.picture("narrow")
	b.clean(file)
}

// Texts of a report stay texts, also in charts and where the pointer is.
func TestHostileTextsInChromium(t *testing.T) {
	b := newTab(t)
	r := full()
	fill(reflect.ValueOf(r), hostile, 0)
	file := b.shown(r)
	b.checkCharts(charts(r))
	for i := range charts(r) {
		b.hover(i, "bars")
	}
	b.hover(0, "bars")
	var found struct {
		Broken  bool
		Scripts int
		Others  int
		Text    string
	}
	b.eval(`({ Broken: "broken" in window, Scripts: document.scripts.length, Others: document.querySelectorAll("img, b, body a:not([href^='#'])").length,
		Text: document.querySelector(".tip").textContent })`, &found)
	if found.Broken || found.Scripts != 3 || found.Others != 0 || !strings.Contains(found.Text, "<img src=x") {
		t.Errorf("%+v", found)
	}
	b.clean(file)
	r = minimal()
	b.clean(file, b.shown(r))
	b.checkCharts(charts(r))
}

// Without scripts the tables are there, and nothing that only scripts can use.
func TestWithoutScripts(t *testing.T) {
	b := newTab(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(htmlOf(t, full())), 0o644); err != nil {
		t.Fatal(err)
	}
	b.load(file)
	var seen struct{ Tables, Charts, Buttons int }
	visible := func(selector string) string {
		return `[...document.querySelectorAll("` + selector + `")].filter(e => e.checkVisibility()).length`
	}
	b.eval("({ Tables: "+visible("table")+", Charts: "+visible("figure")+", Buttons: "+visible("button")+" })", &seen)
	if seen.Tables < 12 || seen.Charts != 0 || seen.Buttons != 0 {
		t.Errorf("%+v", seen)
	}
	b.clean(file)
}

// The policy holds: whatever a script of the page tried, nothing would leave it.
func TestNothingLeavesThePage(t *testing.T) {
	var hits atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer server.Close()
	b := newTab(t)
	try := `new Promise(done => {
		const image = new Image(), frame = document.createElement("script");
		image.src = frame.src = "` + server.URL + `/";
		let left = 3;
		const end = () => --left || done(1);
		image.onload = image.onerror = frame.onload = frame.onerror = end;
		document.head.append(image, frame);
		fetch("` + server.URL + `/", { mode: "no-cors" }).then(end, end);
	})`
	b.shown(minimal())
	b.eval(try, nil)
	if n := hits.Load(); n != 0 {
		t.Errorf("%d requests left the page", n)
	}
	bare := filepath.Join(t.TempDir(), "bare.html")
	if err := os.WriteFile(bare, []byte("<!DOCTYPE html><title>bare</title>"), 0o644); err != nil {
		t.Fatal(err)
	}
	b.load(bare)
	b.eval(try, nil)
	if n := hits.Load(); n != 3 {
		t.Errorf("without the policy %d requests left, want 3: the test sees nothing", n)
	}
}
