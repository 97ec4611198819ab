package edit_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv"

	"github.com/dsconv/dsconv/edit"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// A merge decodes nothing, so that options with a GPU change nothing. Samples can be removed from a dataset that has no
// single recipe.
func TestMergeOfRecipes(t *testing.T) {
	f := pets(t, 4)
	var sources []formats.Dataset
	for i, encoding := range []formats.Encoding{formats.PNG, formats.Raw} {
		v := variant{name: "x.tar", recipe: preprocess.Recipe{Encode: codec.EncodeOptions{Encoding: encoding}}}
		only := formats.Patterns{Include: []string{fmt.Sprintf("*/%03d.jpg", i)}}
		sources = append(sources, open(t, v.pack(t, f.root, folder.Config{Patterns: only})).Dataset)
	}
	path := filepath.Join(t.TempDir(), "x.tar")
	_, err := edit.Merge(ctx, dsconv.Formats(), path, sources, edit.MergeOptions{Options: edit.Options{GPU: new(gpudecode.GPU)}})
	f.must(err)
	remove(t, path, "cat/001")
	if d := open(t, path); d.Len() != 3 || d.Meta().Recipe["encode"] != "mixed" {
		t.Errorf("%d samples, recipe %v", d.Len(), d.Meta().Recipe)
	}
	sound(t, open(t, path))
}
