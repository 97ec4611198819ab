package page

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/internal/legible"
)

// machine is where and how it was measured, and what makes it hard to compare.
func machine(r *bench.Report) section {
	s := section{ID: "machine", Short: "Machine", Title: "Machine and settings"}
	for _, run := range runs(r) {
		if run != r {
			s.heading(setup(run))
		}
		s.list(sentences(run.Notes))
		s.table(machineTable(&run.Machine))
		s.table(optionsTable(run))
	}
	s.remarks(r)
	return s
}

func machineTable(m *bench.Machine) *table {
	t := &table{Title: "Machine", Columns: []column{{"", words}, {"", words}}}
	for _, f := range [][2]string{
		{"cores", known(m.Cores > 0, fmt.Sprintf("%d, of which the run may use %d", m.Cores, m.GOMAXPROCS))},
		{"memory", known(m.Memory > 0, size(m.Memory))},
		{"system", strings.TrimSpace(m.OS + " " + m.Arch)},
		{"Go", m.Go},
		{"Python", m.Python},
		{"PyTorch", m.Torch},
		{"device", m.Device},
	} {
		if f[1] != "" {
			t.add(f[0], sentence(f[1]))
		}
	}
	return t
}

// known is the text, or none: such rows are left out.
func known(is bool, text string) string {
	if !is {
		return ""
	}
	return text
}

// optionsTable lists the options as the JSON names them.
func optionsTable(r *bench.Report) *table {
	t := &table{Title: "Options", Folded: true, Columns: []column{{"option", code}, {"value", code}}}
	text, err := json.Marshal(r.Options)
	var options map[string]json.RawMessage
	if err != nil || json.Unmarshal(text, &options) != nil {
		return t // options with a number that JSON cannot write: the report cannot be saved either
	}
	for _, name := range slices.Sorted(maps.Keys(options)) {
		if text := string(options[name]); text != `""` && text != "null" && text != "0" {
			t.add(name, legible.Line(strings.Trim(text, `"`)))
		}
	}
	return t
}

// remarks are what else is known of a dataset's run.
func (s *section) remarks(r *bench.Report) {
	var list []string
	add := func(d subject, text string) { list = append(list, d.name+": "+sentence(text)) }
	for _, d := range subjects(r, nil) {
		for _, name := range slices.Sorted(maps.Keys(d.Settings)) {
			if value := d.Settings[name]; value != nil {
				add(d, fmt.Sprintf("%s=%v", name, value))
			}
		}
		if d.ShuffleQuality != nil {
			add(d, fmt.Sprintf("order %s: %s", d.run.Options.OrderText, d.ShuffleQuality))
		}
		if d.Narrowed > 0 {
			add(d, d.NarrowedHow)
		}
		if d.Bad > 0 {
			add(d, fmt.Sprintf("%d reads of bad samples", d.Bad))
		}
		if d.Cached > 0 {
			add(d, size(d.Cached)+" of images in the cache")
		}
	}
	if len(list) > 0 {
		s.heading("Remarks")
		s.list(list)
	}
}
