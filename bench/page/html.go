package page

import (
	"bytes"
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
	"github.com/dsconv/dsconv/internal/legible"
)

// Mark begins each page that WriteHTML writes, so that a program can tell it from another file.
const Mark = "<!DOCTYPE html>\n<!-- a report of dsconv bench -->"

//go:embed assets
var assets embed.FS

// pageTemplate is parsed once.
var pageTemplate = sync.OnceValues(func() (*template.Template, error) {
	return template.New("page.tmpl").ParseFS(assets, "assets/page.tmpl")
})

// WriteHTML writes the report as one page of HTML, some ten kilobytes larger than its JSON. It has its styles and its script in
// itself: nothing is loaded from elsewhere, and its content security policy forbids it. Without scripts it shows the report's table.
// It returns an error if the report has no datasets or a number that JSON does not have, or the error of w. It may be called by
// several goroutines at a time.
func WriteHTML(w io.Writer, r *bench.Report) error {
	p, err := newPage(r)
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

// htmlPage is what the template writes.
type htmlPage struct {
	Mark   template.HTML
	Title  string
	Policy string
	Style  template.CSS
	Script template.JS
	Report template.JS // package json escapes what could end a script
	Table  string
}

func newPage(r *bench.Report) (*htmlPage, error) {
	var table strings.Builder
	if err := r.WriteTable(&table); err != nil {
		return nil, err
	}
	report, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	style, errStyle := assets.ReadFile("assets/page.css")
	script, errScript := assets.ReadFile("assets/page.js")
	return &htmlPage{
		Mark: Mark, Title: "dsconv bench: " + legible.Name(r.Datasets[0].Path), Policy: policy(string(style), string(script)),
		Style: template.CSS(style), Script: template.JS(script), Report: template.JS(report), Table: table.String(),
	}, errors.Join(errStyle, errScript)
}

// policy is the page's content security policy: its own style and script by their sums, its icon, and nothing else.
func policy(style, script string) string {
	sum := func(text string) string {
		s := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(s[:]) + "'"
	}
	return "default-src 'none'; script-src " + sum(script) + "; style-src " + sum(style) + "; img-src data:; base-uri 'none'; form-action 'none'"
}
