package page

import (
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
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

func (b *tab) prefers(theme string) {
	b.t.Helper()
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": theme}}}, nil)
	b.frames()
}

// seen is what a page shows.
type seen struct {
	Sections             []string
	Charts, Bars, Rects  int
	Tables, Buttons, Pre int
	Width                int
}

// look looks at the page; what is not visible does not count.
func (b *tab) look() (s seen) {
	b.t.Helper()
	b.eval(`(() => { const n = (q) => [...document.querySelectorAll(q)].filter((e) => e.checkVisibility() && e.getBoundingClientRect().height > 0).length;
		return { Sections: [...document.querySelectorAll("section.part")].map((e) => e.id), Charts: n("figure"), Bars: n(".bar"), Rects: n("svg rect"), Tables: n("table"),
			Buttons: n("button"), Pre: n("pre"), Width: document.documentElement.scrollWidth }; })()`, &s)
	return s
}

// The page as people see it: in light and dark, wide and narrow.
func TestInChromium(t *testing.T) {
	b := newTab(t)
	file := b.shown(full())
	got := b.look()
	want := []string{"verdict", "advice", "epochs", "stages", "timeline", "sizes", "machine"}
	if !slices.Equal(got.Sections, want) || got.Charts != 7 || got.Bars < 40 || got.Rects < 300 || got.Tables < 9 || got.Buttons != 4 || got.Pre != 0 {
		t.Errorf("%+v", got)
	}
	b.picture("light")
	ink := func() (colors []string) {
		b.eval(`[document.body, document.querySelector(".bar"), document.querySelector("svg text")].map((e) => { const s = getComputedStyle(e); return s.backgroundColor + s.fill; })`, &colors)
		return colors
	}
	light := ink()
	b.prefers("dark")
	b.picture("dark")
	dark := ink()
	for i := range light {
		if light[i] == dark[i] {
			t.Errorf("light %v, dark %v", light, dark)
		}
	}
	for choice, want := range map[string][]string{"light": light, "dark": dark} {
		b.eval(`document.querySelector("[data-choice=`+choice+`]").click()`, nil)
		if got := ink(); !slices.Equal(got, want) {
			t.Errorf("%s was chosen: %v, want %v", choice, got, want)
		}
	}
	b.size(390, 800)
	if got := b.look(); got.Width > 390 || got.Charts != 7 {
		t.Errorf("on a telephone: %+v", got)
	}
	b.picture("narrow")
	var narrow []string
	b.eval(`[...document.querySelectorAll(".bars")].filter((e) => [...e.querySelectorAll(".label, .figure")].some((x) => x.getBoundingClientRect().right > innerWidth)).map((e) => e.textContent)`, &narrow)
	if len(narrow) > 0 {
		t.Errorf("on a telephone charts are wider than the page: %q", narrow)
	}
	b.clean(file)
}

// Texts of a report stay texts.
func TestHostileTextsInChromium(t *testing.T) {
	b := newTab(t)
	r := full()
	fill(reflect.ValueOf(r), hostile)
	file := b.shown(r)
	var found struct {
		Broken          bool
		Scripts, Others int
		Text            string
	}
	b.eval(`({ Broken: "broken" in window, Scripts: document.scripts.length, Others: document.querySelectorAll("img, b, body a:not([href^='#'])").length,
		Text: document.querySelector(".bars").textContent })`, &found)
	if found.Broken || found.Scripts != 2 || found.Others != 0 || !strings.Contains(found.Text, "<img src=x") || !strings.Contains(found.Text, `\u{202e}`) {
		t.Errorf("%+v", found)
	}
	b.clean(file)
}

// Reports with little in them, and those of earlier versions, have pages too. Numbers that are none are shown as 0.
func TestOtherReportsInChromium(t *testing.T) {
	b := newTab(t)
	empty := minimal()
	empty.Datasets[0].Timeline = &bench.Timeline{}
	huge := full()
	huge.Datasets[0].EpochSeconds, huge.Datasets[0].Timeline.Batches[139].Done = 1e300, 1e300
	var files []string
	for _, r := range append(kept(t), empty, huge) {
		files = append(files, b.shown(r))
		var text string
		b.eval(`document.querySelector("main").textContent`, &text)
		if got := b.look(); len(got.Sections) == 0 || got.Charts == 0 || strings.Contains(text, "NaN") || strings.Contains(text, "undefined") {
			t.Errorf("%s: %+v: %.400s", r.Datasets[0].Path, got, text)
		}
	}
	b.clean(files...)
}

// Without scripts the table is there, and nothing that only scripts can use.
func TestWithoutScripts(t *testing.T) {
	b := newTab(t)
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(htmlOf(t, full())), 0o644); err != nil {
		t.Fatal(err)
	}
	b.load(file)
	if got := b.look(); got.Pre != 1 || got.Tables != 0 || got.Charts != 0 || got.Buttons != 0 {
		t.Errorf("%+v", got)
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
