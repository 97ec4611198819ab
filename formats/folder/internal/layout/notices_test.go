package layout_test

import (
	"path"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
)

func TestNotices(t *testing.T) {
	for name, c := range map[string]struct {
		dirs  string // folders with images
		want  []string
		names string // of the classes, if they matter
	}{
		"classes":               {"cat dog", nil, ""},
		"splits":                {"train/cat train/dog val/cat", nil, ""},
		"one class":             {"cat", nil, ""},
		"one class, one folder": {"data/cat/raw", nil, ""},
		"CUB":                   {"CUB/images/1 CUB/images/2", []string{"one class, CUB, ", "pack SRC/CUB/images"}, "CUB"},
		"Food-101":              {"images/apple images/pie", []string{"one class, images, ", "pack SRC/images"}, ""},
		"photos of two days":    {"cat cat/monday cat/tuesday", nil, ""},
		"one class in splits":   {"train/images/a train/images/b val/images/a", []string{"pack train=SRC/train/images val=SRC/val/images"}, "images"},
		"chest_xray": {"chest_xray/train/A chest_xray/val/A train/A train/B val/A val/B", []string{
			"train, val are classes here and no splits, since chest_xray lies beside",
			"(--exclude chest_xray/), or pack train=SRC/train val=SRC/val",
		}, ""},
		"MNIST":                  {"training/0 training/1 testing/0 testing/1", []string{"testing, training are classes here", "pack test=SRC/testing train=SRC/training"}, ""},
		"Train and Test":         {"Train/a Test/a", []string{"pack test=SRC/Test train=SRC/Train"}, ""},
		"numbered":               {"train test1", []string{"pack test=SRC/test1 train=SRC/train"}, ""},
		"other letters":          {"train_256/a train_256/b more/a", []string{"train_256 is a class here and no split, since more lies beside: if they are splits, pack train=SRC/train_256"}, ""},
		"trains":                 {"bus car train", nil, ""},
		"valleys":                {"valley testis trains", nil, ""},
		"a name for the shell":   {"Training/a Training/b my$x", []string{"since my$x lies beside", "pack train=SRC/Training"}, ""},
		"Tiny ImageNet":          {"train/n1/images train/n2/images val/images test/images", []string{"test/images, val/images: no class, so its images have no label", "--labels test=FILE --labels val=FILE", "--exclude test/ --exclude val/"}, "n1 n2"},
		"images are a class":     {"train/images train/masks val/images", nil, "images masks"},
		"all in images":          {"train/images val/images", nil, "images"},
		"a class only in val":    {"train/a train/c val/a val/b", []string{"the class b is only in val, so indices differ from those of ImageFolder(SRC/train)", "--exclude val/b/"}, "a b c"},
		"the last only in val":   {"train/a val/a val/b", []string{"the class b is only in val"}, ""},
		"Places365":              {"a/abbey a/airport b/bar b/beach c", []string{"classes are the first folders, as in ImageFolder; a has 2 folders of images: abbey, airport; ", "--labels FILE"}, "a b c"},
		"folders in one of many": {"a/abbey a/airport b c", nil, ""},
	} {
		folders := layout.Folders{}
		for _, dir := range strings.Fields(c.dirs) {
			folders.Mark(dir)
		}
		l, err := layout.New(nil, folders, "")
		if err != nil {
			t.Fatal(err)
		}
		got := l.Notices(&layout.Reading{Folders: folders, Where: func(rel string) string { return path.Join("SRC", rel) }})
		if len(got) != min(len(c.want), 1) {
			t.Errorf("%s: %q", name, got)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.Join(got, "\n"), want) {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
		if names := strings.Join(l.Names, " "); c.names != "" && names != c.names {
			t.Errorf("%s: the classes are %s, want %s", name, names, c.names)
		}
	}
}
