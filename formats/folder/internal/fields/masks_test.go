//go:build cgo

package fields_test

import (
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/testing/foldertest"
)

// TestMasksWithAnOrientation (with cgo, since masks are decoded to be turned): a mask of the image's own orientation is as stored, and so is an extra image whose size
// does not tell.
func TestMasksWithAnOrientation(t *testing.T) {
	for name, c := range map[string]struct {
		field, file string
		turned      bool
	}{
		"mask":                {"mask", photo(t, 8, 8, 1), true},
		"mask of the same":    {"mask", photo(t, 8, 8, 6), false},
		"image":               {"other", photo(t, 8, 8, 1), false},
		"image of other size": {"other", photo(t, 6, 8, 1), true},
	} {
		image := photo(t, 8, 8, 6)
		if strings.Contains(name, "other size") {
			image = photo(t, 8, 6, 6)
		}
		root := foldertest.Files(t, map[string]string{"images/a.jpg": image, "other/a.jpg": c.file})
		d, err := folder.Open(t.Context(), root, folder.Config{Fields: []string{"image=images/{key}.jpg", c.field + "=other/{key}.jpg"}})
		foldertest.Must(t, err)
		var s formats.Sample
		foldertest.Must(t, d.Read(0, &s))
		if turned := s.Values[1].Encoding == formats.PNG; turned != c.turned {
			t.Errorf("%s: turned is %v", name, turned)
		}
		foldertest.Must(t, d.Close())
	}
}
