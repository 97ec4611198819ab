package main

import (
	"bytes"
	"context"
	"encoding"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/bench"
	"github.com/dsconv/dsconv/bench/plan"
	"github.com/dsconv/dsconv/diff"
	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/internal/doctor"
	"github.com/dsconv/dsconv/trainer"
)

// Objects that commands print and that have no type of their own.
type (
	diffLine struct {
		diff.Change
		Summary *diff.Report   `json:"summary"`
		OnlyA   *diff.OneSided `json:"only_a"`
		OnlyB   *diff.OneSided `json:"only_b"`
	}
	diagnosis struct {
		Warnings int           `json:"warnings"`
		Lines    []doctor.Line `json:"lines"`
	}
	removed struct {
		Removed int `json:"removed"`
	}
	editOf[T any] struct {
		editResult
		What T `json:"what"`
	}
)

// documented are the objects of docs/json.md, by the names of its sections: the output of the commands, and other
// files.
var documented = map[string]reflect.Type{
	"dsconv pack":              reflect.TypeFor[dsconv.Report](),
	"dsconv pack --dry-run":    reflect.TypeFor[dryRun](),
	"dsconv shards plan":       reflect.TypeFor[dsconv.ShardPlan](),
	"dsconv shards pack":       reflect.TypeFor[dsconv.ShardResult](),
	"dsconv shards commit":     reflect.TypeFor[dsconv.Report](),
	"dsconv info":              reflect.TypeFor[datasetInfo](),
	"dsconv ls":                reflect.TypeFor[lsRow](),
	"dsconv diff":              reflect.TypeFor[diffLine](),
	"dsconv verify":            reflect.TypeFor[verifyResult](),
	"dsconv add":               reflect.TypeFor[editOf[edit.Added]](),
	"dsconv rm":                reflect.TypeFor[editOf[removed]](),
	"dsconv relabel":           reflect.TypeFor[editOf[edit.Relabelled]](),
	"dsconv merge":             reflect.TypeFor[editOf[edit.Merged]](),
	"dsconv unpack":            reflect.TypeFor[unpackResult](),
	"dsconv synth":             reflect.TypeFor[synthResult](),
	"dsconv doctor":            reflect.TypeFor[diagnosis](),
	"dsconv train":             reflect.TypeFor[trainer.Result](),
	"dsconv bench":             reflect.TypeFor[bench.Report](),
	"--progress json":          reflect.TypeFor[progressJSON](),
	"dsconv plan":              reflect.TypeFor[plan.Plan](),
	"--progress json of plan":  reflect.TypeFor[planProgressJSON](),
	"--progress json of bench": reflect.TypeFor[benchProgressJSON](),
}

// keysOf adds the keys of an object and their types to keys: "a.b" for a key of an object, "a[].b" for one of the
// objects of a list, "a.*" for the values of an object whose keys are data.
func keysOf(t reflect.Type, path string, keys map[string]string, above ...reflect.Type) {
	switch {
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		keys[path] = "any"
		return
	case slices.Contains(above, t):
		keys[path] = "any" // an object like one above it
		return
	case t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()):
		keys[path] = "text"
		return
	}
	switch t.Kind() {
	case reflect.Pointer:
		keysOf(t.Elem(), path, keys, above...)
	case reflect.Struct:
		fieldsOf(t, path, keys, append(slices.Clone(above), t))
	case reflect.Slice, reflect.Array:
		keysOf(t.Elem(), path+"[]", keys, above...)
	case reflect.Map:
		keysOf(t.Elem(), path+".*", keys, above...)
	case reflect.String:
		keys[path] = "text"
	case reflect.Bool:
		keys[path] = "true or false"
	case reflect.Float32, reflect.Float64:
		keys[path] = "number"
	default:
		keys[path] = "integer"
	}
}

func fieldsOf(t reflect.Type, path string, keys map[string]string, above []reflect.Type) {
	own := map[string]bool{}
	for i := range t.NumField() {
		f := t.Field(i)
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			own[name] = true
		}
	}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported() && !f.Anonymous:
		case name != "":
			keysOf(f.Type, strings.TrimPrefix(path+"."+name, "."), keys, above...)
		case f.Anonymous:
			embedded := map[string]string{}
			keysOf(f.Type, "", embedded, above...)
			for key, kind := range embedded {
				first := strings.FieldsFunc(key, func(r rune) bool { return r == '.' || r == '[' })[0]
				if !own[first] { // an outer field hides it
					keys[strings.TrimPrefix(path+"."+key, ".")] = kind
				}
			}
		default:
			keysOf(f.Type, strings.TrimPrefix(path+"."+strings.ToLower(f.Name), "."), keys, above...)
		}
	}
}

var jsonRow = regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| (.*) \\|$")

// jsonDocument returns the keys and types of each section of docs/json.md.
func jsonDocument(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile("../../docs/json.md")
	if err != nil {
		t.Fatal(err)
	}
	sections := map[string]map[string]string{}
	for _, part := range strings.Split(string(text), "\n## ")[1:] {
		heading, body, _ := strings.Cut(part, "\n")
		keys := map[string]string{}
		for _, row := range jsonRow.FindAllStringSubmatch(body, -1) {
			if keys[row[1]] != "" || row[3] == "" {
				t.Errorf("docs/json.md: %s: %s is there twice or has no meaning", heading, row[1])
			}
			keys[row[1]] = row[2]
		}
		sections[strings.ReplaceAll(heading, "`", "")] = keys
	}
	return sections
}

// docs/json.md has every key of every command's JSON, and no others.
func TestJSONDocumentHasEveryKey(t *testing.T) {
	sections := jsonDocument(t)
	for name, object := range documented {
		want := map[string]string{}
		keysOf(object, "", want)
		for _, key := range slices.Sorted(maps.Keys(want)) {
			if got := sections[name][key]; got != want[key] {
				t.Errorf("docs/json.md: %s: %s is %q there, and is %s", name, key, got, want[key])
			}
		}
		for key := range sections[name] {
			if want[key] == "" {
				t.Errorf("docs/json.md: %s: there is no key %s", name, key)
			}
		}
	}
	for words, cmd := range allCommands() {
		hasJSON := slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
		if _, ok := documented[words]; hasJSON != ok {
			t.Errorf("%s: --json: %v, in docs/json.md: %v", words, hasJSON, ok)
		}
	}
}

// dsconvJSON runs a command with --json and returns what it prints, and its progress if that is JSON: values, or a list of them.
func dsconvJSON(t *testing.T, want int, args ...string) (values, progress []any) {
	t.Helper()
	var out, errs bytes.Buffer
	if code := run(context.Background(), append([]string{"dsconv"}, args...), &console{in: strings.NewReader(""), out: &out, err: &errs}); code != want {
		t.Fatalf("%q: exit code %d, want %d: %s", args, code, want, errs.String())
	}
	values = decoded(t, &out)
	if slices.Contains(args, "--progress=json") {
		progress = decoded(t, &errs)
	}
	if len(values) == 0 || len(progress) == 0 && slices.Contains(args, "--progress=json") {
		t.Errorf("%q prints no JSON", args)
	}
	return values, progress
}

func decoded(t *testing.T, text io.Reader) (values []any) {
	t.Helper()
	for d := json.NewDecoder(text); ; {
		var v any
		err := d.Decode(&v)
		if err == io.EOF {
			return values
		}
		if err != nil {
			t.Fatal(err)
		}
		if list, ok := v.([]any); ok {
			values = append(values, list...)
		} else {
			values = append(values, v)
		}
	}
}

// foundKeys calls found for each key of v, with the documented types that its value may have.
func foundKeys(v any, path string, keys map[string]string, found func(path, kinds string)) {
	if keys[path] == "any" {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for key, x := range v {
			below := strings.TrimPrefix(path+"."+key, ".")
			if !slices.ContainsFunc(slices.Collect(maps.Keys(keys)), func(k string) bool {
				return k == below || strings.HasPrefix(k, below+".") || strings.HasPrefix(k, below+"[]")
			}) {
				if data := path + ".*"; keys[data] != "" || keys[data+"[]"] != "" {
					below = data
				}
			}
			foundKeys(x, below, keys, found)
		}
	case []any:
		for _, x := range v {
			foundKeys(x, path+"[]", keys, found)
		}
	case string:
		found(path, "text")
	case bool:
		found(path, "true or false")
	case float64:
		kinds := "number"
		if v == float64(int64(v)) {
			kinds = "number, integer"
		}
		found(path, kinds)
	}
}

// What the commands print with --json is as docs/json.md says.
func TestJSONDocumentIsWhatCommandsPrint(t *testing.T) {
	sections := jsonDocument(t)
	t.Chdir(t.TempDir())
	write := func(name, text string) {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ran := map[string]bool{}
	check := func(section string, want int, args ...string) {
		t.Helper()
		if section == "" {
			section = "dsconv " + args[0]
		}
		ofProgress := "--progress json"
		if args[0] == "bench" || args[0] == "plan" {
			ofProgress += " of " + args[0]
		}
		values, progress := dsconvJSON(t, want, args...)
		for section, values := range map[string][]any{section: values, ofProgress: progress} {
			for _, v := range values {
				ran[section] = true
				foundKeys(v, "", sections[section], func(path, kinds string) {
					if kind := sections[section][path]; kind == "" || !slices.Contains(strings.Split(kinds, ", "), kind) {
						t.Errorf("%q: %s is a %s, and %q in docs/json.md", args, path, kinds, kind)
					}
				})
			}
		}
	}
	check("", exitDone, "synth", "images", "--n", "24", "--classes", "3", "--size", "40x30", "--split", "val=0.25", "--json")
	if err := os.MkdirAll("images/train/.cache", 0o755); err != nil {
		t.Fatal(err)
	}
	write("images/train/.cache/x.jpg", "x")
	write("images/train/banded_disc/bad.jpg", "no image")
	check("", exitSkipped, "pack", "images", "a.tar", "--json", "--exclude", "nothing/", "--report", "a.csv")
	check("dsconv pack --dry-run", exitDone, "pack", "images", "b.tar", "--json", "--dry-run", "--sample", "5")
	check("", exitSkipped, "pack", "images", "b-%02d.tar", "--json", "--quiet=false", "--progress=json", "--split", "none", "--resize", "cover:20x20", "--encode", "raw")
	check("dsconv shards plan", exitDone, "shards", "plan", "images", "c-%d.tar", "--shards", "1", "-o", "p.json", "--json")
	check("dsconv shards pack", exitDone, "shards", "pack", "p.json", "0", "--json")
	check("dsconv shards commit", exitSkipped, "shards", "commit", "p.json", "--json")
	check("", exitDone, "info", "a.tar", "--json")
	check("", exitDone, "ls", "a.tar", "--json")
	table := "path,label,size,note\n"
	dsconvJSON(t, exitDone, "unpack", "a.tar", "back", "--json")
	files, err := filepath.Glob("back/*/*/*.jpg")
	if err != nil || len(files) != 24 {
		t.Fatal(files, err)
	}
	for i, file := range files {
		table += fmt.Sprintf("%s,%s,%d.5,n\n", strings.TrimPrefix(file, "back/"), []string{"a", "a;b", ""}[i%3], i)
	}
	write("table.csv", table)
	check("", exitDone, "pack", "back", "m.tar", "--json", "--labels", "table.csv", "--label-sep", ";")
	check("", exitDone, "info", "m.tar", "--json")
	check("", exitDone, "ls", "m.tar", "--json")
	check("", exitDone, "unpack", "m.tar", "m", "--json")
	check("", exitFailed, "diff", "a.tar", "m.tar", "--json")
	check("", exitFailed, "diff", "a.tar", "b-%02d.tar", "--json")
	check("", exitDone, "verify", "a.tar", "--json")
	check("", exitSkipped, "add", "a.tar", "images", "--json", "--reset-edits")
	check("", exitDone, "rm", "a.tar", "--json", "--key", "train/banded_disc/000003")
	write("labels.csv", "key,label\ntrain/banded_disc/000000,new\n")
	check("", exitDone, "relabel", "a.tar", "labels.csv", "--json", "--dry-run", "--new-class")
	check("", exitDone, "merge", "all.tar", "a.tar", "a.tar", "--json")
	check("", exitDone, "doctor", "--json")
	check("", exitDone, "train", "a.tar", "--json", "--epochs", "1", "--batch", "4", "--size", "16")
	check("", exitDone, "bench", "a.tar", "--json", "-", "--progress=json", "--rounds", "1", "--batch", "4", "--size", "16")
	check("", exitDone, "plan", "a.tar", "--json", "-", "--progress=json", "--sample", "8", "--batch", "4", "--size", "16")
	for name := range documented {
		if !ran[name] {
			t.Errorf("no command was run for %s", name)
		}
	}
}
