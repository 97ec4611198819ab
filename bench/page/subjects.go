package page

import (
	"slices"
	"strings"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/legible"
)

// labelWidth is the largest number of characters of a name in a chart.
const labelWidth = 40

// loaderAlone is the consumer of bench that drops the batches: it only waits.
const loaderAlone = "loader alone"

// subject is a dataset of a report or of one that was merged into it.
type subject struct {
	*bench.Dataset
	run  *bench.Report
	name string // its path, legible
	full string // with the file of its run before it, if there are several runs
}

// subjects are those of all runs for which has is true; nil is all.
func subjects(r *bench.Report, has func(*bench.Dataset) bool) (list []subject) {
	all := runs(r)
	for _, run := range all {
		from := ""
		if len(all) > 1 && run.Source != "" {
			from = legible.Line(run.Source) + ": "
		}
		for i := range run.Datasets {
			if d := &run.Datasets[i]; has == nil || has(d) {
				name := legible.Name(d.Path)
				list = append(list, subject{d, run, name, from + name})
			}
		}
	}
	return list
}

// runs are the report and those merged into it.
func runs(r *bench.Report) []*bench.Report {
	all := []*bench.Report{r}
	for i := range r.Merged {
		all = append(all, runs(&r.Merged[i])...)
	}
	return all
}

// bySubject is a table with a row for each subject, and a line before those of another run.
func bySubject(list []subject, columns []column, cells func(subject) []string) *table {
	t := &table{Columns: append([]column{{"dataset", code}}, columns...)}
	for i, s := range list {
		if i > 0 && s.run != list[i-1].run {
			t.Rows = append(t.Rows, row{Across: setup(s.run)})
		}
		t.add(append([]string{s.name}, cells(s)...)...)
	}
	return t
}

// labels are the subjects' names in a chart.
func labels(list []subject) []string {
	names := make([]string, len(list))
	for i, s := range list {
		names[i] = ending(s.full)
	}
	return names
}

// valuesOf is a series with a value for each subject.
func valuesOf(list []subject, name, role string, f func(subject) float64) series {
	s := series{Name: name, Role: role, Values: make([]value, len(list))}
	for i, sub := range list {
		s.Values[i] = value(f(sub))
	}
	return s
}

// ending is the end of a long name: the part of a path that differs.
func ending(name string) string {
	r := []rune(name)
	if len(r) <= labelWidth {
		return name
	}
	return "…" + string(r[len(r)-labelWidth+1:])
}

// sentence is a text of a report on one line.
func sentence(text string) string { return legible.Line(strings.Join(strings.Fields(text), " ")) }

func sentences(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = sentence(out[i])
	}
	return out
}
