package page

import (
	"fmt"
	"io"
	"strings"

	"github.com/dsconv/dsconv/bench"
)

// Heading begins each report that WriteMarkdown writes, so that a program can tell it from another file.
const Heading = "# dsconv bench"

// WriteMarkdown writes the report as Markdown with tables, as GitHub and GitLab show it: what the page of [WriteHTML] says,
// without its charts. It returns an error if the report has no datasets, or the error of w. It may be called by several
// goroutines at a time.
func WriteMarkdown(w io.Writer, r *bench.Report) error {
	if err := check("page.WriteMarkdown", w, r); err != nil {
		return err
	}
	d := describe(r)
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", Heading, escape(d.Summary.Subject))
	d.Summary.markdown(&b, d.Setup)
	for _, s := range d.Sections {
		s.markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *summary) markdown(b *strings.Builder, setup string) {
	b.WriteByte('\n')
	if s.Cause != "" {
		fmt.Fprintf(b, "**%s.** ", escape(s.Cause))
	}
	fmt.Fprintf(b, "%s\n\n%s\n", escapeLine(s.Text), escapeLine(setup))
	figures := make([]string, len(s.Figures))
	for i, f := range s.Figures {
		figures[i] = "**" + escape(f.Value) + "** " + escape(f.Label)
	}
	fmt.Fprintf(b, "\n%s\n", strings.Join(figures, " · "))
	items(b, s.Evidence)
	if s.Advice != "" {
		fmt.Fprintf(b, "\n**What to do:** %s\n", escape(s.Advice))
	}
	if s.Command != "" {
		fmt.Fprintf(b, "\n    %s\n", s.Command) // an indented block: nothing in it is markup
	}
	if s.Applied != "" {
		fmt.Fprintf(b, "\n%s\n", escape(s.Applied))
	}
}

func (s *section) markdown(b *strings.Builder) {
	fmt.Fprintf(b, "\n## %s\n", s.Title)
	for _, block := range s.Blocks {
		if block.Heading != "" {
			fmt.Fprintf(b, "\n### %s\n", escape(block.Heading))
		}
		if block.Text != "" {
			fmt.Fprintf(b, "\n%s\n", escapeLine(block.Text))
		}
		items(b, block.List)
		if block.Table != nil {
			block.Table.markdown(b)
		}
	}
}

func items(b *strings.Builder, list []string) {
	for i, item := range list {
		fmt.Fprintf(b, "%s- %s\n", map[bool]string{true: "\n"}[i == 0], escapeLine(item))
	}
}

func (t *table) markdown(b *strings.Builder) {
	b.WriteByte('\n')
	if t.Title != "" && t.Title != sameAsTable { // Markdown has no chart that it could be the same as
		fmt.Fprintf(b, "%s:\n\n", escape(t.Title))
	}
	heads, rules := make([]string, len(t.Columns)), make([]string, len(t.Columns))
	for i, c := range t.Columns {
		heads[i], rules[i] = escape(c.Name), "---"
		if c.Kind == number {
			rules[i] = "---:"
		}
	}
	fmt.Fprintf(b, "| %s |\n| %s |\n", strings.Join(heads, " | "), strings.Join(rules, " | "))
	for _, r := range t.Rows {
		fmt.Fprintf(b, "| %s |\n", strings.Join(t.cells(r), " | "))
	}
}

// cells are a row's cells; a line across the table is the first of them.
func (t *table) cells(r row) []string {
	cells := make([]string, len(t.Columns))
	if r.Across != "" {
		cells[0] = "*" + escape(r.Across) + "*"
		return cells
	}
	for i, c := range r.Cells {
		cells[i] = escape(c)
		if t.Columns[i].Kind == code && c != unknown {
			cells[i] = codeSpan(c)
		}
		if r.Best && i == 0 {
			cells[i] = "**" + cells[i] + "**"
		}
	}
	return cells
}

// codeSpan is text in a table as code: with more backticks around it than are in it.
func codeSpan(text string) string {
	if text == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") || strings.TrimSpace(text) != text {
		text = " " + text + " "
	}
	return fence + strings.ReplaceAll(text, "|", `\|`) + fence
}

// markup is what has a meaning anywhere in a line of Markdown, and starts what has one at its begin.
const (
	markup = "\\`*_[]<|~&$"
	starts = "#>-+="
)

// escape is text that is shown as it is, in a cell or within a line.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune(markup, r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// escapeLine is text that is shown as it is at the begin of a line too.
func escapeLine(text string) string {
	escaped := escape(text)
	if text != "" && strings.ContainsRune(starts, rune(text[0])) {
		return "\\" + escaped
	}
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	if rest := text[digits:]; digits > 0 && rest != "" && (rest[0] == '.' || rest[0] == ')') { // the number of a list
		return text[:digits] + "\\" + escaped[digits:]
	}
	return escaped
}
