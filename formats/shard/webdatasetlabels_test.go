package shard_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dsconv/dsconv"
	"github.com/dsconv/dsconv/formats"
)

// TestDotsAndClasses: names with dots and classes that are no single text lose no label unsaid.
func TestDotsAndClasses(t *testing.T) {
	m := func(list ...string) (members []tarMember) {
		for i := 0; i < len(list); i += 2 {
			members = append(members, tarMember{list[i], strings.ReplaceAll(list[i+1], "photo", string(photo))})
		}
		return members
	}
	for name, c := range map[string]struct {
		members  []tarMember
		m        map[string]string
		want     string // fields, then keys and labels
		notice   string
		mustFail string
	}{
		"dots in names": {
			m("./a/img.v1.jpg", "photo", "./a/img.v1.cls", "0", "./a/img.v2.jpg", "photo", "./a/img.v2.cls", "1"), nil,
			"image label[0 1] a/img.v1:0 a/img.v2:1", "the names of samples have dots", "",
		},
		"one version": {m("1.v1.jpg", "photo", "1.v1.cls", "x", "2.v1.jpg", "photo", "2.v1.cls", "y"), nil, "image label[x y] 1.v1:0 2.v1:1", "the names of samples have dots", ""},
		"classes of each image": {
			m("1.left.jpg", "photo", "1.left.cls", "0", "1.right.jpg", "photo", "1.right.cls", "1", "2.left.jpg", "photo", "2.left.cls", "0", "2.right.jpg", "photo", "2.right.cls", "1"), nil,
			"image label[0 1] 1.left:0 1.right:1 2.left:0 2.right:1", "the names of samples have dots", "",
		},
		"classes of another image": {m("1.left.jpg", "photo", "1.right.cls", "1", "1.json", "1"), nil, "image json right 1:-1", "the classes of 1 samples are in .right.cls", ""},
		"one is without":           {m("1.jpg", "photo", "1.cls", "0", "2.v1.jpg", "photo", "2.v1.cls", "1"), nil, "image label[0] v1 v1_jpg 1:0", "", ""},
		"one-hot":                  {m("1.jpg", "photo", "1.cls", "[0, 1, 0]", "2.jpg", "photo", "2.cls", "[1, 0, 1]\n"), nil, "image label[0 1 2] 1:[0 1 0] 2:[1 0 1]", "", ""},
		"floats as pandas writes":  {m("1.jpg", "photo", "1.cls", "1.0", "2.jpg", "photo", "2.cls", "0"), nil, "image label[0 1] 1:1 2:0", "", ""},
		"vectors":                  {m("1.jpg", "photo", "1.cls", "0.5 1", "2.jpg", "photo", "2.cls", "3 4"), nil, "", "", `the labels are lists of numbers, such as "0.5 1", and no classes: name another label by a map`},
		"fractions":                {m("1.jpg", "photo", "1.cls", "0.5", "2.jpg", "photo", "2.cls", "3"), nil, "", "", "the labels are numbers, of which 0.5 is no class index"},
		"another field":            {m("1.jpg", "photo", "1.cls", "0.5", "2.jpg", "photo", "2.cls", "3"), map[string]string{"target": "cls"}, "image target 1:-1 2:-1", "", ""},
		"reserved names":           {m("1.jpg", "photo", "1.cls", "0", "1.index", "7", "1.key", "k", "1.label", "l", "1.image", "i"), nil, "image label[0] image_2 index_2 key_2 label_2 1:0", "", ""},
	} {
		t.Setenv("XDG_CACHE_HOME", t.TempDir())
		path := filepath.Join(t.TempDir(), "x.tar")
		tarOf(t, path, c.members...)
		for range 2 { // the second time from the cache
			ds, err := dsconv.Formats().OpenWith(t.Context(), path, formats.ReadOptions{Map: c.m})
			if err != nil || c.mustFail != "" {
				if c.mustFail == "" || err == nil || !strings.Contains(err.Error(), c.mustFail) {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			got := []string{}
			for _, f := range ds.Meta().Schema {
				got = append(got, f.Name)
				if len(f.Classes) > 0 {
					got[len(got)-1] += fmt.Sprint(f.Classes)
				}
			}
			for i := range ds.Len() {
				in, err := ds.Info(i)
				must(t, err)
				label := fmt.Sprint(in.Label)
				if k := ds.Meta().Schema.LabelIndex(); k >= 0 && ds.Meta().Schema[k].Kind == formats.MultiHot {
					label = fmt.Sprintf("%v", readTars(t, ds, i).Values[k].Data)
				}
				got = append(got, in.Key+":"+label)
			}
			notices := strings.Join(ds.(interface{ Notices() []string }).Notices(), "; ")
			if strings.Join(got, " ") != c.want || !strings.Contains(notices, c.notice) || (c.notice == "") != (notices == "") {
				t.Errorf("%s: %s, said %q", name, got, notices)
			}
			must(t, ds.Close())
		}
	}
}
