package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/misuse"
)

// Mark begins each page that WriteHTML writes, so that a program can tell it from another file.
const Mark = "<!DOCTYPE html>\n<!-- a report of dsconv bench -->"

//go:embed assets
var assets embed.FS

// pageTemplate is parsed once.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("page.tmpl").ParseFS(assets, "assets/page.tmpl")
})

// library is the chart library's script.
var library = sync.OnceValues(func() (string, error) {
	packed, err := assets.ReadFile("assets/echarts/echarts.min.js.gz")
	if err != nil {
		return "", err
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	script, err := io.ReadAll(z)
	return string(script), err
})

// WriteHTML writes the report as one page of HTML of about 1.2 MB. It has its charts, styles and scripts in itself: nothing is
// loaded from elsewhere, and its content security policy forbids it. Without scripts its tables can be read. It returns
// an error if the report has no datasets, or the error of w. It may be called by several goroutines at a time.
func WriteHTML(w io.Writer, r *bench.Report) error {
	if err := check("page.WriteHTML", w, r); err != nil {
		return err
	}
	p, err := newPage(describe(r))
	if err != nil {
		return fmt.Errorf("page.WriteHTML: %w", err)
	}
	t, err := pageTemplate()
	if err != nil {
		return fmt.Errorf("page.WriteHTML: %w", err)
	}
	var b bytes.Buffer // an error must not leave half a page
	if err := t.Execute(&b, p); err != nil {
		return fmt.Errorf("page.WriteHTML: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

// check returns an error for arguments that no page can be made of.
func check(function string, w io.Writer, r *bench.Report) error {
	if err := misuse.Nil(function, "w", w); err != nil {
		return err
	}
	if err := misuse.Nil(function, "r", r); err != nil {
		return err
	}
	if len(r.Datasets) == 0 {
		return errors.New(function + ": the report has no datasets")
	}
	return nil
}

// htmlPage is what the template writes.
type htmlPage struct {
	document
	Mark     template.HTML
	Licences template.HTML // a comment
	Policy   string
	Style    template.CSS
	Library  template.JS
	Script   template.JS
	Charts   template.JS // their data, in the order of the page
}

func newPage(d document) (*htmlPage, error) {
	charts, err := chartData(d)
	if err != nil {
		return nil, err
	}
	lib, err := library()
	if err != nil {
		return nil, err
	}
	text := func(name string) string {
		b, errRead := assets.ReadFile("assets/" + name)
		err = errors.Join(err, errRead)
		return string(b)
	}
	style, script := text("page.css"), text("page.js")
	licences := []string{"Apache ECharts, in this page:"}
	for _, name := range []string{"NOTICE", "LICENSE", "LICENSE-d3", "LICENSE-zrender"} {
		licences = append(licences, text("echarts/"+name))
	}
	return &htmlPage{
		document: d, Mark: Mark, Licences: template.HTML("<!--\n" + strings.Join(licences, "\n\n") + "\n-->"),
		Policy: policy(style, lib, script), Style: template.CSS(style), Library: template.JS(lib), Script: template.JS(script), Charts: charts,
	}, err
}

// chartData is the JSON of the charts. Package json escapes what could end a script.
func chartData(d document) (template.JS, error) {
	list := []map[string]any{}
	for _, s := range d.Sections {
		for _, b := range s.Blocks {
			if b.Chart != nil {
				list = append(list, map[string]any{"kind": b.Chart.Data.name(), "title": b.Chart.Title, "data": b.Chart.Data})
			}
		}
	}
	text, err := json.Marshal(list)
	return template.JS(text), err
}

// policy is the page's content security policy: its own style and scripts by their sums, its icon, and nothing else.
func policy(style string, scripts ...string) string {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
	}
	sums := make([]string, len(scripts))
	for i, s := range scripts {
		sums[i] = sum(s)
	}
	return "default-src 'none'; script-src " + strings.Join(sums, " ") + "; style-src " + sum(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
}
