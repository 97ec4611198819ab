package archive

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writeAll writes files below a new folder; a name without data is a folder.
func writeAll(t *testing.T, files map[string][]byte) string {
	t.Helper()
	root := t.TempDir()
	for name, data := range files {
		name = filepath.Join(root, name)
		must(t, os.MkdirAll(filepath.Dir(name), 0o755))
		if data == nil {
			must(t, os.Mkdir(name, 0o755))
			continue
		}
		must(t, os.WriteFile(name, data, 0o644))
	}
	return root
}

func TestClassArchives(t *testing.T) {
	one, two := file{"1.jpg", []byte("one")}, file{"2.jpg", []byte("two")}
	root := writeAll(t, map[string][]byte{
		"train/cat.tar": makeTar(t, one, two), "train/dog.ZIP": makeZip(t, one), "train/.DS_Store": []byte("x"), "train/eel.tar.gz": gzipped(t, makeTar(t, two)),
		"train/fox.zip": makeZip(t, file{"fox/1.jpg", []byte("fox")}, file{"__MACOSX/fox/._1.jpg", []byte("x")}),
		"val.tar":       makeTar(t, one, file{"../evil.jpg", []byte("evil")}), "README": []byte("x"), ".git/x.jpg": []byte("x"),
	})
	c, err := OpenClassArchives(context.Background(), root)
	must(t, err)
	defer c.Close()
	files := []string{"train/cat/1.jpg", "train/cat/2.jpg", "train/dog/1.jpg", "train/eel/2.jpg", "train/fox/1.jpg", "val/1.jpg"}
	for folder, want := range map[string]int{".": 2, "train": 4, "train/cat": 2, "val": 1} {
		if entries, err := c.ReadDir(folder); err != nil || len(entries) != want {
			t.Errorf("%s: %v, %v", folder, entries, err)
		}
	}
	for _, name := range files {
		if b, err := c.ReadInto(name, nil); err != nil || len(b) != 3 {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"train/3.jpg", "train/cat/3.jpg", "x", "", "../x"} {
		if b, err := c.ReadInto(name, nil); err == nil {
			t.Errorf("%s: %q", name, b)
		}
	}
	if refused := refusedBy(c); len(refused) != 1 || refused["val/../evil.jpg"] == "" {
		t.Errorf("refused: %v", refused)
	}
	var before, after strings.Builder
	must(t, c.Identify(&before))
	must(t, os.WriteFile(filepath.Join(root, "val.tar"), makeTar(t, two), 0o644))
	if b, err := c.ReadInto("val/1.jpg", nil); err == nil {
		t.Errorf("of an archive that changed: %q", b)
	}
	again, err := OpenClassArchives(context.Background(), root)
	must(t, err)
	defer again.Close()
	must(t, again.Identify(&after))
	if before.String() == after.String() {
		t.Error("an archive changed, and the identity is the same")
	}
	must(t, c.Close())
	must(t, c.Close())
	if b, err := c.ReadInto("train/cat/1.jpg", nil); err == nil {
		t.Errorf("of a closed one: %q", b)
	}
}

// A folder has an archive for each class only if nothing else can be meant.
func TestNotClassArchives(t *testing.T) {
	one := makeTar(t, file{"1.jpg", []byte("one")})
	for why, c := range map[string]struct {
		files map[string][]byte
		found []string
		err   string
	}{
		"classes":              {map[string][]byte{"n01440764.tar": one, "n01443537.tar": one, "l.csv": {}}, []string{"n01440764.tar", "n01443537.tar"}, ""},
		"digits":               {map[string][]byte{"0.tar": one, "1.tar": one}, []string{"0.tar", "1.tar"}, ""},
		"shards":               {map[string][]byte{"x-000.tar": one, "x-001.tar": one}, nil, ""},
		"one shard":            {map[string][]byte{"x-000.tar": one}, nil, ""},
		"an image":             {map[string][]byte{"a.tar": one, "1.jpg": one}, nil, "no folder with an archive for each class: it has "},
		"another folder":       {map[string][]byte{"a.tar": one, "a": nil}, nil, "no folder with an archive for each class: it has "},
		"an unpacked split":    {map[string][]byte{"train.tar": one, "train/cat/1.jpg": one}, nil, "no folder with an archive"},
		"an empty folder":      {map[string][]byte{}, nil, "no folder with an archive"},
		"no tar":               {map[string][]byte{"a.tar": []byte("what"), "b.tar": one}, []string{"a.tar", "b.tar"}, "a.tar: it begins as text"},
		"an empty tar":         {map[string][]byte{"a.tar": {}, "b.tar": one, "c.tar": one}, []string{"a.tar", "b.tar", "c.tar"}, "a.tar: it is empty"},
		"no tars":              {map[string][]byte{"a.tar": []byte("what"), "b.tar": {}}, nil, "a.tar: it begins as text"},
		"folders in it":        {map[string][]byte{"train.zip": makeZip(t, file{"cat/1.jpg", []byte("x")}), "val.tar": one}, []string{"train.zip", "val.tar"}, "as in \"train="},
		"the same class twice": {map[string][]byte{"a.tar": one, "a.zip": makeZip(t)}, []string{"a.tar", "a.zip"}, "are both the folder a"},
		"a split twice":        {map[string][]byte{"train.tar": one, "train/a.tar": one}, []string{"train.tar", "train/a.tar"}, "are both the folder train/a"},
		"a damaged archive":    {map[string][]byte{"a.zip": []byte("PK\x03\x04what"), "b.tar": one}, []string{"a.zip", "b.tar"}, "a.zip"},
		"one archive":          {map[string][]byte{"a.tar": one}, nil, ""},
	} {
		root := writeAll(t, c.files)
		var found []string
		for _, p := range ListClassArchives(root) {
			rel, err := filepath.Rel(root, p)
			must(t, err)
			found = append(found, rel)
		}
		slices.Sort(found)
		if !slices.Equal(found, c.found) {
			t.Errorf("%s: %v", why, found)
		}
		opened, err := OpenClassArchives(context.Background(), root)
		if err == nil {
			must(t, opened.Close())
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v, want %q", why, err, c.err)
		}
	}
}
