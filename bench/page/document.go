package page

import "github.com/dsconv/dsconv/bench"

// document is what a page says, before it becomes HTML or Markdown.
type document struct {
	Title    string
	Setup    string // what took the batches, and on what
	Summary  summary
	Sections []section
}

// summary is the answer: what holds the first dataset's epoch back, and what to do.
type summary struct {
	Subject  string // path of the dataset
	Cause    string // a few words
	Tone     string // how the cause is coloured: a role
	Text     string
	Figures  []figure
	Evidence []string
	Advice   string
	Command  string // to type, if there is one
	Applied  string
}

// figure is a number in large type with what it is.
type figure struct{ Value, Label string }

// section is a part of the page with a heading.
type section struct {
	ID, Title string
	Short     string // the title in the row of links
	Blocks    []block
}

// block is one of its fields.
type block struct {
	Heading string
	Text    string
	List    []string
	Chart   *chart
	Table   *table
}

// table is a table with the kinds of its columns.
type table struct {
	Title   string
	Columns []column
	Rows    []row
	// Folded tables have details that few readers want: HTML shows them when asked to.
	Folded bool
}

// Pairs reports whether its columns have no names: it is a list of pairs.
func (t *table) Pairs() bool {
	return t.Columns[0].Name == "" && t.Columns[len(t.Columns)-1].Name == ""
}

// column is the head of a column and what its cells are.
type column struct {
	Name string
	Kind kind
}

type kind int

const (
	number kind = iota
	words
	code // a path or a command
)

// row is a row of cells, or a line across the table.
type row struct {
	Cells  []string
	Across string
	Best   bool
}

// Class is the kind as a class of CSS.
func (k kind) Class() string { return [...]string{"number", "words", "code"}[k] }

// describe is the document of a report. Sections without content are left out.
func describe(r *bench.Report) document {
	d := document{Title: "dsconv bench", Setup: setup(r), Summary: summarise(r)}
	if s := d.Summary.Subject; s != "" {
		d.Title += ": " + s
	}
	for _, f := range []func(*bench.Report) section{
		causes, recommendation, epochs, stages, timelines, sizes, monitored, machine,
	} {
		if s := f(r); len(s.Blocks) > 0 {
			d.Sections = append(d.Sections, s)
		}
	}
	return d
}

func (s *section) text(text string)    { s.Blocks = append(s.Blocks, block{Text: text}) }
func (s *section) heading(text string) { s.Blocks = append(s.Blocks, block{Heading: text}) }
func (s *section) chart(c *chart)      { s.Blocks = append(s.Blocks, block{Chart: c}) }

func (s *section) list(items []string) {
	if len(items) > 0 {
		s.Blocks = append(s.Blocks, block{List: items})
	}
}

func (s *section) table(t *table) {
	if len(t.Rows) > 0 {
		s.Blocks = append(s.Blocks, block{Table: t})
	}
}

// add adds a row of cells.
func (t *table) add(cells ...string) { t.Rows = append(t.Rows, row{Cells: cells}) }
