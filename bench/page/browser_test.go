package page

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
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
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"captureBeyondViewport": true}, &shot)
	png, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "page-"+name+".png"), png, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

func TestDraw(t *testing.T) {
	b := newTab(t)
	file := b.shown(full())
	b.picture("light")
	b.call("Emulation.setEmulatedMedia", map[string]any{"features": []any{map[string]any{"name": "prefers-color-scheme", "value": "dark"}}}, nil)
	b.frames()
	b.picture("dark")
	b.clean(file)
}
