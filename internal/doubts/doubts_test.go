package doubts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/doubts"
)

// list is a dataset of nothing but its index.
type list struct {
	formats.Dataset
	meta formats.Meta
	info []formats.Info
}

func (l *list) Len() int                             { return len(l.info) }
func (l *list) Meta() *formats.Meta                  { return &l.meta }
func (l *list) Info(i int) (formats.Info, error)     { return l.info[i], nil }
func (l *list) add(hash byte, split string, x int64) { l.put([16]byte{hash}, split, x) }

func (l *list) put(hash [16]byte, split string, x int64) {
	l.info = append(l.info, formats.Info{
		Key: fmt.Sprintf("k%d", len(l.info)), Split: split, Label: x, Source: formats.Source{Hash: hash},
	})
}

func found(t *testing.T, memory int64, all ...*list) string {
	t.Helper()
	var datasets []formats.Dataset
	for _, l := range all {
		datasets = append(datasets, l)
	}
	lines, err := doubts.Find(context.Background(), memory, datasets...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}

func TestImagesInSeveralSplitsAndClasses(t *testing.T) {
	l := &list{}
	l.add(1, "train", 0)
	l.add(2, "train", 1)
	l.add(1, "train", 0) // a copy that harms nothing
	if got := found(t, 0, l); got != "" {
		t.Errorf("a copy in its own class and split: %q", got)
	}
	l.add(2, "", 1)       // of no split
	l.add(0, "val", 0)    // whose hash is not known
	l.add(0, "train", 1)  // likewise
	l.add(1, "val", -1)   // a leak, without a label
	l.add(1, "test", -1)  // the same image
	l.add(2, "train", 0)  // another class
	l.add(3, "train", -1) // no label is no class
	l.add(3, "train", 1)
	want := "1 image(s) are in several splits with the same bytes, such as k0 and k6\n" +
		"1 image(s) have several classes with the same bytes, such as k1 and k8"
	if got := found(t, 0, l); got != want {
		t.Errorf("%s", got)
	}
}

// A folder of datasets is one: a leak is between them. It is found with a sort that does not fit into the memory, too.
func TestImagesInSeveralDatasets(t *testing.T) {
	train, val := &list{}, &list{}
	for i := range 5000 {
		hash := [16]byte{byte(i), byte(i >> 8), 1}
		train.put(hash, "train", int64(i%2))
		if hash[2] = 2; i%1000 == 0 {
			hash[2] = 1
		}
		val.put(hash, "val", int64(i%2))
	}
	if got := found(t, 1<<14, train, val); !strings.HasPrefix(got, "5 image(s) are in several splits") || strings.Contains(got, "classes") {
		t.Errorf("%q", got)
	}
}

func TestLabelsFromOne(t *testing.T) {
	for want, classes := range map[bool][]string{true: nil, false: {"ant", "bee", "cow", "dog"}} {
		l := &list{meta: formats.Meta{Schema: formats.Schema{{Name: "label", Kind: formats.Label, Classes: classes}}}}
		for x := range int64(3) {
			l.add(0, "", x+1)
		}
		if got := found(t, 0, l); strings.HasPrefix(got, "the labels are all of 1 to 3, and no image has 0: a model needs 4 outputs") != want {
			t.Errorf("classes %q: %q", classes, got)
		}
		l.add(0, "", 7) // a gap
		if got := found(t, 0, l); got != "" {
			t.Errorf("with a gap: %q", got)
		}
	}
}

func TestClasses(t *testing.T) {
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprint("id", i)
	}
	for want, c := range map[string]struct {
		classes []string
		kind    formats.Kind
		images  int
	}{
		"": {[]string{"dress", "shirt"}, formats.Label, 30},
		"label: the classes Dress and dress differ only in upper and lower case":                            {[]string{"Dress", "dress", "shirt"}, formats.MultiHot, 30},
		"label: the classes É and é differ only in upper and lower case":                                    {[]string{"É", "é"}, formats.Label, 2},
		"label: 40 classes for 42 images: perhaps it is not the label but a name or a number of each image": {many, formats.Label, 42},
	} {
		m := &formats.Meta{Schema: formats.Schema{{Name: "image", Kind: formats.Image}, {Name: "label", Kind: c.kind, Classes: c.classes}}}
		if got := strings.Join(doubts.OfClasses(m, c.images), "\n"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	m := &formats.Meta{Schema: formats.Schema{{Name: "label", Kind: formats.Label, Classes: many}}}
	if got := doubts.OfClasses(m, 400); got != nil {
		t.Errorf("ten images a class: %q", got)
	}
}
