//go:build cgo

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
)

// added is what add prints with --json.
func added(t *testing.T, args ...string) (what struct {
	New, Changed, Relabelled, Unchanged int
	ChangedFields                       map[string]int `json:"changed_fields"`
},
) {
	t.Helper()
	code, said := dsconvSays(append([]string{"add", "--json", "--quiet"}, args...)...)
	if code != exitDone {
		t.Fatalf("add %v: exit code %d: %s", args, code, said)
	}
	var result struct{ What any }
	result.What = &what
	must(t, json.Unmarshal([]byte(said), &result))
	return what
}

// replaceIn replaces text in a file that keeps its size and its time.
func replaceIn(t *testing.T, name, from, to string) {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	st, err := os.Stat(name)
	must(t, err)
	if !bytes.Contains(data, []byte(from)) {
		t.Fatalf("%s has no %q", name, from)
	}
	must(t, os.WriteFile(name, bytes.Replace(data, []byte(from), []byte(to), 1), 0o644))
	must(t, os.Chtimes(name, st.ModTime(), st.ModTime()))
}

// add takes a sample of which a field changed from the source, whatever the field, as a fresh pack would, and adds
// samples with the fields of the dataset.
func TestAddSeesChangedFields(t *testing.T) {
	for _, options := range [][]string{nil, {"--resize", "exact:12x6", "--encode", "raw"}, {"--encode", "jpeg:90"}} {
		t.Run(strings.Join(options, " "), func(t *testing.T) {
			t.Chdir(t.TempDir())
			writeFields(t)
			const held = "src/images/val/3.jpg"
			must(t, os.Rename(held, "held.jpg"))
			packFields(t, "x.tar", options...)
			if got := added(t, "x.tar", "src"); got.Unchanged != 3 || got.ChangedFields != nil {
				t.Errorf("nothing changed, and add found %+v", got)
			}
			for _, c := range []struct {
				change func()
				fields map[string]int
			}{
				{func() {
					must(t, os.Rename("src/masks/train/1.png", "1.png"))
					must(t, os.Link("src/masks/train/2.png", "src/masks/train/1.png"))
				}, map[string]int{"mask": 1}},
				{func() { replaceIn(t, "src/images/train/0.txt", "0", "7") }, map[string]int{"caption": 1}},
				{func() { replaceIn(t, "src/images/train/0.json", "0", "7") }, map[string]int{"meta": 1}},
				{func() { replaceIn(t, "src/arrays/train/1.npy", "\n\x00", "\n\x07") }, map[string]int{"points": 1}},
				{func() { replaceIn(t, "src/images/train/2.bin", "\xff", "\x07") }, map[string]int{"blob": 1}},
				{func() { replaceIn(t, "captions.json", "caption 2", "caption 7") }, map[string]int{"captions": 1}},
				{func() { replaceIn(t, "boxes.json", "[2,1,4,6]", "[2,1,4,5]") }, map[string]int{"boxes": 1}},
				{func() { replaceIn(t, "boxes.json", `"category_id":3`, `"category_id":6`) }, map[string]int{"box_labels": 1}},
				{func() {
					must(t, os.Remove("src/right/train/0.jpg"))
					must(t, os.Link("src/right/train/1.jpg", "src/right/train/0.jpg"))
				}, map[string]int{"right": 1}},
			} {
				c.change()
				got := added(t, "x.tar", "src")
				if got.New+got.Relabelled != 0 || !reflect.DeepEqual(got.ChangedFields, c.fields) {
					t.Errorf("add found %+v, want %v", got, c.fields)
				}
			}
			must(t, os.Rename("held.jpg", held))
			if got := added(t, "x.tar", "src"); got.New != 1 || got.Unchanged != 3 {
				t.Errorf("a new image, and add found %+v", got)
			}
			packFields(t, "fresh.tar", options...)
			x, err := dsconv.Open("x.tar")
			must(t, err)
			defer x.Close()
			fresh, err := dsconv.Open("fresh.tar")
			must(t, err)
			defer fresh.Close()
			sameSamples(t, "after add", x, fresh)
			if code, said := dsconvSays("diff", "src", "x.tar"); options == nil && code != exitDone {
				t.Errorf("diff: exit code %d: %s", code, said)
			}
		})
	}
}

// What add cannot know is asked for. A sample whose partner vanished, or whose image is damaged now, stays as it was, by name.
func TestAddOfFieldsThatAreMissing(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFields(t)
	packFields(t, "x.tar")
	must(t, os.Remove("src/masks/train/1.png"))
	const kept, cause = "stay as they were, since their files are damaged or missing now: train/1", "images/train/1.jpg: field mask: there is no file masks/train/1.png"
	for range 2 {
		code, said := dsconvSays("add", "x.tar", "src")
		if code != exitSkipped || !strings.Contains(said, "kept "+cause) || !strings.Contains(said, "0 changed, 0 relabelled, 3 unchanged, 0 not in src\n  1 "+kept) || !strings.Contains(said, "now 4 samples") {
			t.Errorf("exit code %d: %s", code, said)
		}
	}
	damaged, err := os.ReadFile("src/images/train/2.jpg")
	must(t, err)
	must(t, os.WriteFile("src/images/train/2.jpg", damaged[:len(damaged)/2], 0o644))
	code, said := dsconvSays("add", "x.tar", "src", "--hash", "--json", "--quiet")
	if code != exitSkipped || !strings.Contains(said, `"kept_old": [`) || !strings.Contains(said, `"train/2"`) || !strings.Contains(said, `"changed": 0`) {
		t.Errorf("a damaged image: exit code %d: %s", code, said)
	}
	must(t, os.WriteFile("src/images/train/2.jpg", damaged, 0o644))
	if code, said := dsconvSays("add", "x.tar", "src", "--field", "image=images/{key}.jpg", "--field", "mask=masks/{key}.png"); code != exitFailed || !strings.Contains(said, "it has no field") {
		t.Errorf("other fields: exit code %d: %s", code, said)
	}
	must(t, os.MkdirAll("plain/cat", 0o755))
	for _, name := range []string{"0", "2"} {
		must(t, os.Rename("src/images/train/"+name+".jpg", "plain/cat/"+name+".jpg"))
	}
	if code, said := dsconvSays("pack", "plain", "plain.tar"); code != exitDone {
		t.Fatal(said)
	}
	for _, name := range []string{"0", "2"} {
		must(t, os.Rename("src/masks/train/"+name+".png", "plain/cat/"+name+"_mask.png"))
	}
	if code, said := dsconvSays("add", "plain.tar", "plain"); code != exitUsage || !strings.Contains(said, "--field") {
		t.Errorf("a mask beside its image: exit code %d: %s", code, said)
	}
	if got := added(t, "plain.tar", "plain", "--field", "none"); got.New != 2 {
		t.Errorf("the masks as samples: %+v", got)
	}
}
