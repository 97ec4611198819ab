package bench

import (
	"fmt"
	"io"
	"strings"
)

// Heading begins each report that WriteMarkdown writes, so that a program can tell it from another file.
const Heading = "# dsconv bench"

// WriteMarkdown writes what WriteTable writes as Markdown, as GitHub and GitLab show it.
func (r *Report) WriteMarkdown(w io.Writer) error {
	if err := r.checkWrite("bench.Report.WriteMarkdown", w); err != nil {
		return err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s; %s\n", Heading, escape(printable(r.Datasets[0].Path)), escape(r.setup()), r.medianOf())
	r.tables(&b, markdownTable)
	b.WriteString("\n```text\n")
	r.conclusions(&b) // no line of it is three backticks alone
	b.WriteString("```\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// markdownTable writes the rows with the first column to the left and the others to the right; a row of one cell is a line
// across the table.
func markdownTable(b *strings.Builder, rows [][]string) {
	b.WriteByte('\n')
	columns := len(rows[0])
	for i, row := range rows {
		cells := make([]string, columns)
		for k, cell := range row {
			cells[k] = escape(cell)
		}
		fmt.Fprintf(b, "| %s |\n", strings.Join(cells, " | "))
		if i == 0 {
			fmt.Fprintf(b, "| --- |%s\n", strings.Repeat(" ---: |", columns-1))
		}
	}
}

// escape is text that is shown as it is within a line of Markdown or a cell.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if strings.ContainsRune("\\`*_[]<|~&$", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
