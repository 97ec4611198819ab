package recipepath

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func write(t *testing.T, root string, files ...string) {
	t.Helper()
	for _, name := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// A recipe's paths lead to the same file wherever the current folder is, through links, and after a move.
func TestPathsLeadToTheFile(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, root, "data/images/labels.csv", "disk2/deep/sets/x", "shared/order.txt")
	for link, to := range map[string]string{"sets": "disk2/deep/sets", "data/common": "../shared"} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for name, c := range map[string]struct{ dataset, labels, want string }{
		"beside":             {"data/a.tar", "data/images/labels.csv", "images/labels.csv"},
		"folder to be made":  {"data/new/a.lmdb", "data/images/labels.csv", "../images/labels.csv"},
		"a linked folder":    {"sets/a.tar", "data/images/labels.csv", "../../../data/images/labels.csv"},
		"a linked file":      {"data/a.tar", "data/common/order.txt", "common/order.txt"},
		"absolute, the same": {filepath.Join(root, "data/a.tar"), filepath.Join(root, "data/images/labels.csv"), "images/labels.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			wanted, _ := filepath.Abs(c.labels)
			r := Relative(Absolute(map[string]string{"labels": c.labels, "encode": "keep", "class-order": "natural"}), c.dataset)
			if want := map[string]string{"labels": c.want, "encode": "keep", "class-order": "natural", Base: "dataset"}; !maps.Equal(r, want) {
				t.Fatalf("%v, want %v", r, want)
			}
			paths := []string{c.dataset, filepath.Join(root, filepath.Base(root), "..", c.dataset)}
			if filepath.IsAbs(c.dataset) {
				paths = paths[:1]
			}
			for _, path := range append(paths, filepath.Join(withoutLinks(folderOf(c.dataset)), "renamed.tar")) {
				got := Resolve(r, path)
				if !sameFile(got["labels"], wanted) || got[Base] != "" || got["class-order"] != "natural" {
					t.Errorf("%s: %v", path, got)
				}
			}
		})
	}
	write(t, root, "data/set.lmdb")
	if err := os.Symlink("../data/set.lmdb", filepath.Join(root, "shared/link.lmdb")); err != nil {
		t.Fatal(err)
	}
	linked := map[string]string{"labels": "images/labels.csv", Base: "dataset"}
	if got := Resolve(linked, "shared/link.lmdb")["labels"]; !sameFile(got, "data/images/labels.csv") {
		t.Errorf("by a link to the dataset it is %s", got)
	}
	old := map[string]string{"labels": "data/images/labels.csv"}
	if got := Resolve(old, "elsewhere/a.tar")["labels"]; got != filepath.Join(root, old["labels"]) {
		t.Errorf("an earlier version's path is %s", got)
	}
	if got := Relative(map[string]string{"labels": "in/fsys.csv"}, "data/a.tar"); got[Base] != "" || got["labels"] != "in/fsys.csv" {
		t.Errorf("a path of an fs.FS became %v", got)
	}
	if err := os.Rename(filepath.Join(root, "data"), filepath.Join(root, "moved")); err != nil {
		t.Fatal(err)
	}
	if got := Resolve(map[string]string{"labels": "images/labels.csv", Base: "dataset"}, "moved/a.tar")["labels"]; !sameFile(got, "moved/images/labels.csv") {
		t.Errorf("after a move it is %s", got)
	}
}
