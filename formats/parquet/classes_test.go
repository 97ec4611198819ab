package parquet_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/parquet"
)

// labelled is a row whose image is plain bytes, with a label of any type.
type labelled[T any] struct {
	Image []byte `parquet:"image,plain"`
	Label T      `parquet:"label,dict"`
	Raw   []byte `parquet:"raw,plain"`
}

// ofLabels is a file with a row for each label.
func ofLabels[T any](t *testing.T, labels ...T) string {
	var rows []labelled[T]
	for _, l := range labels {
		rows = append(rows, labelled[T]{[]byte("\xff\xd8\xff jpeg"), l, []byte("no image")})
	}
	var out bytes.Buffer
	if err := goparquet.Write(&out, rows); err != nil {
		t.Fatal(err)
	}
	return write(t, out.Bytes())
}

// TestLabels: a column that is named label is the label, whatever its type; and bytes that are image files are images.
func TestLabels(t *testing.T) {
	many := make([]string, 1<<16+1)
	for i := range many {
		many[i] = fmt.Sprint("text ", i)
	}
	for name, c := range map[string]struct {
		path, want string
	}{
		"texts":      {ofLabels(t, "dog", "cat", "", "dog"), "label [cat dog]: 1 0 -1 1"},
		"truth":      {ofLabels(t, true, false), "label [false true]: 1 0"},
		"a number":   {ofLabels(t, 0.5, 1), "number []: -1 -1"},
		"indices":    {ofLabels(t, "10", "2", "2.0", ""), "label [0 1 2 3 4 5 6 7 8 9 10]: 10 2 2 -1"},
		"vectors":    {ofLabels(t, "[0, 1]", "[1, 0]"), "columns [label_2]: -1 -1"},
		"too many":   {ofLabels(t, many...), "columns [label_2]: -1 -1 -1 -1"},
		"a long one": {ofLabels(t, "dog", strings.Repeat("x", 2000)), "columns [label_2]: -1 -1"},
	} {
		if !(parquet.Format{}).Match(c.path) {
			t.Errorf("%s: does not match", name)
		}
		ds, err := parquet.Format{}.Open(c.path)
		if err != nil {
			t.Fatal(err)
		}
		m, skips := ds.Meta(), ds.(formats.Skipper).Skips()
		got := fmt.Sprintf("columns %v:", m.Columns)
		if len(m.Schema) == 2 {
			got = fmt.Sprintf("%s %v:", m.Schema[1].Kind, m.Schema[1].Classes)
		} else if cause := skips[1].Cause; !strings.Contains(cause, "it is no label but the column label_2") {
			t.Errorf("%s: listed as %q", name, cause)
		}
		var s formats.Sample
		for i := range min(ds.Len(), 4) {
			in, err := ds.Info(i)
			if err != nil || ds.Read(i, &s) != nil || s.Values[0].Encoding != formats.JPEG {
				t.Fatalf("%s: %v, %v", name, err, s.Values)
			}
			got += fmt.Sprint(" ", in.Label)
		}
		if got != c.want || skips[0].Path != "column raw" {
			t.Errorf("%s: %s, skipped %v", name, got, skips)
		}
		if err := ds.Close(); err != nil {
			t.Error(err)
		}
	}
	_, err := parquet.Format{}.OpenWith(t.Context(), ofLabels(t, many...), formats.ReadOptions{Map: map[string]string{"image": "image", "label": "label"}})
	if err == nil || !strings.Contains(err.Error(), "the column label is not the label: it has more than 65536 different texts") {
		t.Errorf("too many classes that a map asks for: %v", err)
	}
}

// TestLists: columns of lists and structs are named, and a map on them says why it cannot be.
func TestLists(t *testing.T) {
	type object struct {
		Box  []float32 `parquet:"box,list"`
		Name string    `parquet:"name"`
	}
	type nested struct {
		Image  []byte   `parquet:"image,plain"`
		Tags   []int64  `parquet:"tags,list"`
		Object []object `parquet:"objects,list"`
		Place  struct {
			City string `parquet:"city"`
		} `parquet:"place"`
		Index int64  `parquet:"index"`
		Key   string `parquet:"key"`
	}
	var out bytes.Buffer
	if err := goparquet.Write(&out, []nested{{Image: []byte("\xff\xd8\xff jpeg"), Tags: []int64{1, 2}, Object: []object{{Name: "x"}}, Index: 7, Key: "k"}}); err != nil {
		t.Fatal(err)
	}
	path := write(t, out.Bytes())
	ds, err := parquet.Format{}.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer ds.Close()
	var left []string
	for _, k := range ds.(formats.Skipper).Skips() {
		left = append(left, k.Path)
		if !strings.Contains(k.Cause, "it has lists or structs, which are not read") {
			t.Errorf("%s: %s", k.Path, k.Cause)
		}
	}
	if got := fmt.Sprint(left, ds.Meta().Columns); got != "[column tags column objects column place] [index_2 key_2]" {
		t.Error(got)
	}
	_, err = parquet.Format{}.OpenWith(t.Context(), path, formats.ReadOptions{Map: map[string]string{"label": "tags"}})
	if err == nil || !strings.Contains(err.Error(), "the column tags cannot be the field label: it has lists or structs") {
		t.Error(err)
	}
}
