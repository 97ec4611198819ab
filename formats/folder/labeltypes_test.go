package folder

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// withLabels makes a folder of images and a table that gives each the cell at its place.
func withLabels(t *testing.T, cells ...string) (root, table string) {
	t.Helper()
	var files []string
	text := "path\tlabel\n"
	for i, cell := range cells {
		files = append(files, fmt.Sprintf("%03d.jpg", i))
		text += files[i] + "\t" + cell + "\n"
	}
	table = filepath.Join(t.TempDir(), "l.tsv")
	foldertest.Must(t, os.WriteFile(table, []byte(text), 0o644))
	return foldertest.Tree(t, files...), table
}

// What is made of a column of labels: no label gets another meaning without a word.
func TestLabelTypes(t *testing.T) {
	cells := func(s string) []string { return strings.Split(s, ",") }
	indices := []string{"0", "1", "2"}
	ask := "--label-type index (class indices, with gaps), name (class names) or float"
	for name, c := range map[string]struct {
		cells   []string
		cfg     Config
		labels  []int64
		classes []string
		said    string // or the error
	}{
		"indices":                  {cells("1,0,2,1"), Config{}, []int64{1, 0, 2, 1}, indices, "label: 3 classes, the indices 0 to 2 as they are"},
		"indices, some without":    {cells("1,,-1,0,2"), Config{}, []int64{1, -1, -1, 0, 2}, indices, "label: 3 classes, the indices 0 to 2 as they are; 2 without a label"},
		"white space":              {[]string{" 1", "0 ", "\u00a02", "  "}, Config{}, []int64{1, 0, 2, -1}, indices, "label: 3 classes, the indices 0 to 2 as they are; 1 without a label"},
		"only -1":                  {cells("-1,-1"), Config{}, []int64{-1, -1}, nil, "label: no classes; 2 without a label"},
		"names":                    {cells("dog,cat,Dog,,-1"), Config{}, []int64{2, 1, 0, -1, -1}, cells("Dog,cat,dog"), "label: 3 classes by name; 2 without a label"},
		"a text cell":              {cells("-1,0,1,2,10,unknown"), Config{}, []int64{-1, 0, 1, 2, 3, 4}, cells("0,1,2,10,unknown"), "label: 5 classes by name (the index of 10 is 3); 1 without a label"},
		"names that are numbers":   {cells("#a,404,3M,é"), Config{}, []int64{0, 2, 1, 3}, cells("#a,3M,404,é"), "label: 4 classes by name (the index of 404 is 2)"},
		"leading zeros":            {cells("007,01,1"), Config{}, []int64{0, 1, 2}, cells("007,01,1"), "label: 3 classes by name (the index of 007 is 0)"},
		"years":                    {cells("2017,2018"), Config{}, nil, nil, `column "label": it has 2 different numbers from 2017 to 2018, but class indices would be all of 0 to n-1: there is no 0 (line 3 has 2018). Choose what they are: ` + ask},
		"a gap":                    {cells("0,1,2,4"), Config{}, nil, nil, "there is no 3 (line 5 has 4). Choose what they are: " + ask},
		"-1 and a gap":             {cells("-1,0,1,2,10"), Config{}, nil, nil, "there is no 3 (line 6 has 10)"},
		"one large":                {cells("0,1,99999999"), Config{}, nil, nil, "from 0 to 99999999, but class indices would be all of 0 to n-1: there is no 2 (line 4 has 99999999)"},
		"huge":                     {cells("0,99999999999999999999"), Config{}, nil, nil, "line 3 has 99999999999999999999"},
		"negative":                 {cells("0,1,-2"), Config{}, nil, nil, "line 4 has -2"},
		"fractions":                {cells("0.5,1,93"), Config{}, nil, nil, "line 2 has 0.5. Choose what they are"},
		"a fraction among indices": {cells("0,1,1.5"), Config{}, nil, nil, "line 4 has 1.5. Choose what they are"},
		"as pandas writes":         {cells("1.0,0,2.0,1,-1.0"), Config{}, []int64{1, 0, 2, 1, -1}, cells("0,1,2"), "label: 3 classes, the indices 0 to 2 as they are; 1 without a label"},
		"from 1, as pandas writes": {cells("1.0,2.0,3"), Config{}, nil, nil, "it has 3 different numbers from 1.0 to 3, but class indices would be all of 0 to n-1: there is no 0"},
		"vectors":                  {cells("1 0 0,0 1 1"), Config{}, nil, nil, `line 2 has "1 0 0", a list of numbers and not one label: --label-sep`},
		"vectors of Python":        {[]string{"[0, 1]", "[1, 0]"}, Config{}, nil, nil, "a list of numbers and not one label: --label-sep"},
		"boxes":                    {[]string{"48,240,195,371,11 8,12,352,498,14", "1,2,3,4,0"}, Config{}, nil, nil, "a list of numbers and not one label: --label-type name"},
		"vectors as names":         {cells("1 0 0,0 1 1"), Config{LabelType: "name"}, []int64{1, 0}, cells("0 1 1,1 0 0"), "label: 2 classes by name"},
		"numbers and a name":       {cells("1 0,x"), Config{}, []int64{0, 1}, cells("1 0,x"), "label: 2 classes by name"},
		"vectors with a separator": {[]string{"1 0 0", "0 1.0 1", "0 0 0"}, Config{LabelSep: " "}, []int64{0, 1, 2}, cells("0,1,2"), "label: 3 classes, the indices 0 to 2 as they are; each cell has a 0 or 1 for each of 3 classes; 1 without a label"},
		"lists of Python":          {[]string{"[0, 0, 1]", "[1, 0, 0]"}, Config{LabelSep: ","}, []int64{2, 0}, cells("0,1,2"), "label: 3 classes, the indices 0 to 2 as they are; each cell has a 0 or 1 for each of 3 classes"},
		"equal as float32":         {cells("16777216,16777217,1"), Config{LabelType: "float"}, []int64{0x4b800000, 0x4b800000, 0x3f800000}, nil, "label: numbers from 1 to 1.6777216e+07 (float32); 1 are equal to others only as float32, such as 1.6777216e+07 and 16777217"},
		"index, with gaps":         {cells("4,0,,-1"), Config{LabelType: "index"}, []int64{4, 0, -1, -1}, cells("0,1,2,3,4"), "label: 5 classes, the indices 0 to 4 as they are; 2 without a label"},
		"index, and an order":      {cells("0,1,2"), Config{LabelType: "index", ClassOrder: "natural"}, nil, nil, "no class names for --class-order natural to order"},
		"index, as pandas writes":  {cells("1.0,0.0,-1.0"), Config{LabelType: "index"}, []int64{1, 0, -1}, cells("0,1"), "label: 2 classes, the indices 0 to 1 as they are; 1 without a label"},
		"index, too large":         {cells("0,99999999"), Config{LabelType: "index"}, nil, nil, "line 3: 99999999 is too large for a class index (the limit is 1048575)"},
		"index, a text":            {cells("0,x"), Config{LabelType: "index"}, nil, nil, `line 3: "x" is not a class index`},
		"index, a fraction":        {cells("0,0.5"), Config{LabelType: "index"}, nil, nil, `line 3: "0.5" is not a class index`},
		"name":                     {cells("2018,2017, 300 ,-1,"), Config{LabelType: "name"}, []int64{3, 2, 1, 0, -1}, cells("-1,300,2017,2018"), "label: 4 classes by name (the index of -1 is 0); 1 without a label"},
		"float":                    {cells("0.5,93,,NaN, 1e-3 "), Config{LabelType: "float"}, []int64{0x3f000000, 0x42ba0000, 0x7fc00000, 0x7fc00000, 0x3a83126f}, nil, "label: numbers from 0.001 to 93 (float32); 2 without a label"},
		"float, -1":                {cells("-1,0,1"), Config{LabelType: "label=float"}, []int64{0xbf800000, 0, 0x3f800000}, nil, "label: numbers from -1 to 1 (float32)"},
		"float, a text":            {cells("1,unknown"), Config{LabelType: "float"}, nil, nil, `line 3: "unknown" is not a float32 number`},
		"float, a comma":           {[]string{"1,5"}, Config{LabelType: "float"}, nil, nil, `line 2: "1,5" is not a float32 number (with a decimal point)`},
		"float, too large":         {cells("1e39"), Config{LabelType: "float"}, nil, nil, `line 2: "1e39" is not a float32 number`},
		"float, infinite":          {cells("inf"), Config{LabelType: "float"}, nil, nil, `line 2: "inf" is not a float32 number`},
		"float, hexadecimal":       {cells("0x1p-2"), Config{LabelType: "float"}, nil, nil, `line 2: "0x1p-2" is not a float32 number`},
		"float, several":           {cells("1;2"), Config{LabelType: "float", LabelSep: ";"}, nil, nil, "a column of numbers to predict cannot have several values"},
		"several, a gap":           {cells("0;1,3"), Config{LabelSep: ";"}, nil, nil, "there is no 2 (line 3 has 3)"},
		"another type":             {cells("0"), Config{LabelType: "int"}, nil, nil, `unknown label type "int": give index, name or float`},
		"another column":           {cells("0"), Config{LabelType: "age=float"}, nil, nil, `label type age=float: "age" is not one of the label columns: label`},
		"a type twice":             {cells("0"), Config{LabelType: "label=name,label=index"}, nil, nil, "a column has two types"},
		"natural order":            {cells("2017,2018"), Config{ClassOrder: "natural"}, []int64{0, 1}, cells("2017,2018"), "label: 2 classes by name (the index of 2017 is 0)"},
	} {
		t.Run(name, func(t *testing.T) {
			root, table := withLabels(t, c.cells...)
			c.cfg.Labels = table
			d, err := Open(context.Background(), root, c.cfg)
			if c.labels == nil {
				if err == nil || !strings.Contains(err.Error(), c.said) || !strings.Contains(err.Error(), table) {
					t.Fatalf("got %v\nwant %s", err, c.said)
				}
				return
			}
			foldertest.Must(t, err)
			var got []int64
			for _, it := range samplesOf(t, d) {
				got = append(got, it.labels...)
			}
			if !slices.Equal(got, c.labels) || !slices.Equal(d.Meta().Classes(), c.classes) {
				t.Errorf("labels %v, classes %q, want %v and %q", got, d.Meta().Classes(), c.labels, c.classes)
			}
			if said := d.LabelColumns()[0].Summary; said != c.said {
				t.Errorf("said %q, want %q", said, c.said)
			}
		})
	}
}

// A file with the order of classes says that -1 is one, or that it is none.
func TestMinusOneInTheOrderOfClasses(t *testing.T) {
	root, table := withLabels(t, "1", "-1", "0")
	for order, want := range map[string][]int64{"1\n0\n": {0, -1, 1}, "-1\n0\n1\n": {2, 0, 1}} {
		file := filepath.Join(t.TempDir(), "order.txt")
		foldertest.Must(t, os.WriteFile(file, []byte(order), 0o644))
		d := open(t, root, Config{Labels: table, ClassOrder: file})
		var got []int64
		for _, it := range samplesOf(t, d) {
			got = append(got, it.labels...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("order %q: %v, want %v", order, got, want)
		}
	}
}

// Labels for a dataset that is there already are what that dataset's are, and its classes keep
// their indices.
func TestLabelsLikeADatasets(t *testing.T) {
	class := func(names ...string) formats.Field {
		return formats.Field{Name: "label", Kind: formats.Label, DType: formats.Int64, Classes: names}
	}
	for name, c := range map[string]struct {
		like   formats.Field
		typ    string
		cells  []string
		labels []int64
		want   string // of the classes, or in the error
	}{
		"some of the indices": {class("0", "1", "2", "3"), "", []string{"3", "1", "-1"}, []int64{3, 1, -1}, "0 1 2 3"},
		"the next index":      {class("0", "1"), "", []string{"2", "1"}, []int64{2, 1}, "0 1 2"},
		"a gap":               {class("0", "1"), "", []string{"3"}, nil, `column "label": there is no 2 (line 2 has 3), but the dataset's classes are the indices 0 to 1`},
		"a gap that is meant": {class("0", "1"), "index", []string{"3"}, []int64{3}, "0 1 2 3"},
		"a fraction":          {class("0", "1"), "", []string{"0.5"}, nil, "line 2 has 0.5"},
		"names":               {class("dog", "cat"), "", []string{"cat", "ant", "2", "10"}, []int64{1, 4, 2, 3}, "dog cat 2 10 ant"},
		"years":               {class("2017", "2018"), "", []string{"2018", "2016"}, []int64{1, 2}, "2017 2018 2016"},
		"an old -1":           {class("-1", "0", "1"), "", []string{"-1", "1", ""}, []int64{0, 2, -1}, "-1 0 1"},
		"old white space":     {class(" cat", "dog"), "", []string{" cat", "dog "}, []int64{0, 1}, " cat dog"},
		"numbers":             {formats.Field{Name: "label", Kind: formats.Number}, "", []string{"2", ""}, []int64{0x40000000, 0x7fc00000}, ""},
		"no number":           {formats.Field{Name: "label", Kind: formats.Number}, "", []string{"cat"}, nil, `"cat" is not a float32 number`},
	} {
		t.Run(name, func(t *testing.T) {
			root, table := withLabels(t, c.cells...)
			d, err := Open(context.Background(), root, Config{Labels: table, LabelType: c.typ, Like: formats.Schema{c.like}})
			if c.labels == nil {
				if err == nil || !strings.Contains(err.Error(), c.want) {
					t.Fatalf("got %v, want %s", err, c.want)
				}
				return
			}
			foldertest.Must(t, err)
			var got []int64
			for _, it := range samplesOf(t, d) {
				got = append(got, it.labels...)
			}
			if !slices.Equal(got, c.labels) || strings.Join(d.Meta().Classes(), " ") != c.want {
				t.Errorf("labels %v, classes %q", got, d.Meta().Classes())
			}
		})
	}
}
