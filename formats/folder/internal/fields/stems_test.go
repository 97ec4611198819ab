package fields_test

import (
	"context"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

func TestStems(t *testing.T) {
	for name, c := range map[string]struct {
		files string
		want  []string
		err   string
	}{
		"all kinds": {
			"c/a.jpg c/a.mask.png c/a.txt c/a.json c/b.jpg c/b.mask.png c/b.txt c/b.json", []string{
				"c/a  c json=1 mask=png text=c/a.txt", "c/b  c json=1 mask=png text=c/b.txt",
			}, "",
		},
		"several images":        {"a.left.jpg a.right.jpg b.left.jpg b.right.jpg", []string{"a right=4", "b right=4"}, ""},
		"an image and a mask":   {"c/a.rgb.png c/a.mask.png", []string{"c/a  c mask=png"}, ""},
		"in a folder of images": {"images/a.png images/a.txt images/b.png images/b.txt", []string{"a text=images/a.txt", "b text=images/b.txt"}, ""},
		"other extensions":      {"c/a.png c/a.txt c/b.jpg c/b.txt", []string{"c/a  c text=c/a.txt", "c/b  c text=c/b.txt"}, ""},
		"a field is missing":    {"c/a.jpg c/a.txt c/b.jpg", []string{"c/a  c text=c/a.txt", "c/b  c error field text: there is no file c/b.txt"}, ""},
		"not clear":             {"c/a.jpg c/a.png", nil, "--field 'png={key}.png,kind=KIND'"},
		"images and partners":   {"c/a.jpg c/a.png c/b.png", nil, "what they are"},
		"nothing":               {"c/a.jpg c/b.png", nil, "no image has a file of the same name"},
	} {
		contents := map[string]string{}
		for _, f := range strings.Fields(c.files) {
			contents[f] = f
			switch filepath.Ext(f) {
			case ".png":
				contents[f] = "png"
			case ".json":
				contents[f] = "1"
			case ".jpg":
				contents[f] = foldertest.JPEGHead
			}
		}
		d, err := folder.Open(context.Background(), foldertest.Files(t, contents), folder.Config{Fields: []string{"auto"}})
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", name, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := foldertest.Values(t, d)
		for i := range got {
			got[i] = strings.ReplaceAll(got[i], foldertest.JPEGHead, "")
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		foldertest.Must(t, d.Close())
	}
}
