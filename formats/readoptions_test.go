package formats_test

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
)

func TestParseMap(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"": nil, "image=jpg": {"image": "jpg"}, "image=jpg,label=json.meta.class": {"image": "jpg", "label": "json.meta.class"},
	} {
		if m, err := formats.ParseMap(text); err != nil || !reflect.DeepEqual(m, want) {
			t.Errorf("%q: %v, %v", text, m, err)
		}
		o := formats.ReadOptions{Map: want}
		again, err := formats.ReadOptionsFromRecipe(map[string]string{"source.map": o.Recipe()["map"], "source.format": "x"})
		if err != nil || !reflect.DeepEqual(again.Map, want) || (again.Format == "x") != (want != nil) {
			t.Errorf("%q: %v, %v", text, again, err)
		}
	}
	for _, text := range []string{"image", "image=", "=jpg", "a=b,a=c", "a b=c", ",", "a=b,"} {
		if m, err := formats.ParseMap(text); !errors.Is(err, formats.ErrSchema) {
			t.Errorf("%q: %v, %v", text, m, err)
		}
	}
}

// named is a format of one name, of another program if it is foreign.
type named struct {
	formats.WritableFormat
	name string
}

func (f named) Name() string                       { return f.name }
func (named) Match(string) bool                    { return true }
func (named) Aliases() []string                    { return []string{"theirs"} }
func (named) Open(string) (formats.Dataset, error) { return nil, errors.New("opened by name") }

type foreign struct{ given *formats.ReadOptions }

func (foreign) Name() string           { return "theirs" }
func (foreign) Match(path string) bool { return path != "new" }
func (foreign) Open(string) (formats.Dataset, error) {
	return nil, errors.New("opened without options")
}

func (f foreign) OpenWith(_ context.Context, _ string, o formats.ReadOptions) (formats.Dataset, error) {
	*f.given = o
	return nil, errors.New("opened with options")
}

// TestForeignFormats: another program's dataset is found by its content, never as a place to write to.
func TestForeignFormats(t *testing.T) {
	var given formats.ReadOptions
	r := formats.Registry{foreign{&given}, named{name: "ours"}}
	find := func(f formats.Format, err error) string {
		if err != nil {
			return err.Error()
		}
		return f.Name()
	}
	for what, c := range map[string][2]string{
		"there":            {find(r.ByPath("x")), "theirs"},
		"new":              {find(r.ByPath("new")), "ours"},
		"written to":       {find(r.Writable().ByPath("x")), "ours"},
		"by name":          {find(r.ByName("Theirs")), "theirs"},
		"by alias":         {find(r.Writable().ByName("theirs")), "ours"},
		"for reading":      {find(r.ForReading("x", formats.ReadOptions{})), "theirs"},
		"for reading, too": {find(r.ForReading("x", formats.ReadOptions{Format: "ours"})), "ours"},
	} {
		if c[0] != c[1] {
			t.Errorf("%s: %s, want %s", what, c[0], c[1])
		}
	}
	m := map[string]string{"image": "jpg"}
	for _, c := range []struct {
		o    formats.ReadOptions
		want string
	}{
		{formats.ReadOptions{}, "opened with options"},
		{formats.ReadOptions{Map: m}, "opened with options"},
		{formats.ReadOptions{Format: "ours"}, "opened by name"},
		{formats.ReadOptions{Format: "ours", Map: m}, "the map image=jpg is for datasets of other programs"},
		{formats.ReadOptions{Format: "none"}, "unknown format"},
	} {
		if _, err := r.OpenWith(t.Context(), "x", c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: %v, want %s", c.o, err, c.want)
		}
	}
	if !reflect.DeepEqual(given.Map, m) {
		t.Errorf("the map that arrived is %v", given.Map)
	}
}
