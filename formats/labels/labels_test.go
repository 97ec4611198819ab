package labels

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

// A number that is written is read as the same bits again.
func TestNumbersRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		x := math.Float32frombits(r.Uint32())
		if math.IsInf(float64(x), 0) {
			continue
		}
		if x != x { // NaN alone differs from itself
			x = NaN()
		}
		got, ok := parseFloat(FormatFloat(x))
		if !ok || math.Float32bits(got) != math.Float32bits(x) {
			t.Fatalf("%x is written %q and read %x", math.Float32bits(x), FormatFloat(x), math.Float32bits(got))
		}
	}
}

func TestWhatIsANumber(t *testing.T) {
	for text, want := range map[string]bool{
		"0": true, "-1": true, "+2": true, "1.": true, ".5": true, "1e-3": true, "2E5": true, "0.50": true, "-0": true,
		"": false, "-": false, "--1": false, "007": false, "00.5": false, "1,5": false, "1_000": false, "0x10": false, "inf": false,
		"nan": false, "e": false, "1e": false, "1-2": false, "٣": false, "3M": false, "1 000": false, "1e999": false,
	} {
		if _, ok := parseNumber(text); ok != want {
			t.Errorf("%q: %v", text, ok)
		}
	}
}

func TestSortNames(t *testing.T) {
	names := strings.Split("10,b,2,B,#1,007,1a,0.5,-3,1.0,1,é", ",")
	want := strings.Split("#1,-3,0.5,007,1,1.0,2,1a,10,B,b,é", ",")
	for range 20 {
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		if sortNames(names); !slices.Equal(names, want) {
			t.Fatalf("%q, want %q", names, want)
		}
	}
}

func TestTypes(t *testing.T) {
	types, err := ParseTypes("name,a=b=float,c=index")
	if err != nil || types.For("a=b") != Float || types.For("c") != Index || types.For("x") != Name {
		t.Errorf("%+v, %v", types, err)
	}
	for _, s := range []string{"a", "a=", "float,index", "a=float,a=name", ",", "FLOAT"} {
		if _, err := ParseTypes(s); err == nil {
			t.Errorf("%q is taken", s)
		}
	}
	if types.Check([]string{"a=b", "c"}) != nil || types.Check([]string{"c"}) == nil {
		t.Error("a column that is not there is taken, or one that is not")
	}
	all, err := ParseTypes("float")
	if err != nil || all.Check(nil) == nil || all.Check([]string{"x"}) != nil {
		t.Error("a type of no column is taken")
	}
}

// FuzzColumn: whatever is in a column, it is an error or each cell is a class that there is; whole
// numbers that are taken for indices are those; and no class of a dataset that is there already
// gets another index.
func FuzzColumn(f *testing.F) {
	f.Add("0,1,2,-1,", "", "", "")
	f.Add("2017,2018", "index", "", "")
	f.Add("a;b,c, a ", "", ";", "")
	f.Add("0.5,1e3,nan,", "float", "", "")
	f.Add("3,1,-1,x", "", "", "0,1,2")
	f.Add("cat,10,2", "name", "", "dog,cat")
	f.Fuzz(func(t *testing.T, cells, typ, sep, like string) {
		s := Source{
			Column: "label", Cells: strings.Split(cells, ","), Type: Type(typ), Sep: sep,
			Where: func(i int) string { return fmt.Sprint("line ", i+2) },
		}
		if !slices.Contains([]Type{Auto, Index, Name, Float}, s.Type) {
			return
		}
		if like != "" {
			s.Like = &formats.Field{Kind: formats.Label, Classes: slices.Compact(slices.Sorted(strings.SplitSeq(like, ",")))}
		}
		c, err := s.Read()
		if err != nil {
			if !strings.Contains(err.Error(), `column "label"`) {
				t.Fatal(err)
			}
			return
		}
		if s.Like != nil && !slices.Equal(c.Classes[:len(s.Like.Classes)], s.Like.Classes) {
			t.Fatalf("classes %q of %q", c.Classes, s.Like.Classes)
		}
		if c.Type == Float {
			return
		}
		for _, cell := range s.Cells {
			list := c.Indices(cell)
			if sep == "" && len(list) > 1 {
				t.Fatalf("%q has %v", cell, list)
			}
			for _, x := range list {
				if x < 0 || x >= int64(len(c.Classes)) {
					t.Fatalf("%q is class %d of %d", cell, x, len(c.Classes))
				}
			}
			text := strings.TrimSpace(cell)
			if sep != "" || len(list) == 0 || !strings.Contains(cell, text) {
				continue
			}
			if n, err := strconv.Atoi(text); c.Type == Index && err == nil && list[0] != int64(n) {
				t.Fatalf("index %d is class %d", n, list[0])
			}
			if name := c.Classes[list[0]]; c.Type == Name && name != text && name != cell {
				t.Fatalf("%q is class %q", cell, name)
			}
		}
	})
}

// Numbers for a dataset whose classes have names are hardly the names of new ones: that they are has
// to be said. Numbers to predict are no classes.
func TestNumbersAmongNames(t *testing.T) {
	like := &formats.Field{Kind: formats.Label, Classes: []string{"cat", "7"}}
	for _, c := range []struct {
		cells string
		typ   Type
		like  *formats.Field
		want  string // of the error
		grown int
	}{
		{"1", Auto, like, `line 2 has 1, but the dataset's classes have names such as cat. Give names, or use --label-type name if each number is the name of a new class`, 0},
		{"0.5,30.25", Auto, like, "line 2 has 0.5", 0},
		{"cat,1", Index, like, "line 3 has 1", 0},
		{"7,8", Index, like, "line 3 has 8", 0},
		{"1", Name, like, "", 3},
		{"7,8", Auto, like, "", 3},   // numbers are names there already
		{"dog,8", Auto, like, "", 4}, // as in a new dataset
		{"7,-1,", Auto, like, "", 2},
		{"dog", Index, like, "", 3},
		{"1", Name, &formats.Field{Kind: formats.Number}, "numbers to predict", 0},
		{"1", Index, &formats.Field{Kind: formats.Number}, "numbers to predict", 0},
	} {
		s := Source{
			Column: "label", Cells: strings.Split(c.cells, ","), Type: c.typ, Like: c.like,
			Where: func(i int) string { return fmt.Sprint("line ", i+2) },
		}
		column, err := s.Read()
		switch {
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%+v: %v", c, err)
		case c.want == "" && err != nil:
			t.Errorf("%+v: %v", c, err)
		case c.want == "" && len(column.Classes) != c.grown:
			t.Errorf("%+v: %q", c, column.Classes)
		}
	}
}
