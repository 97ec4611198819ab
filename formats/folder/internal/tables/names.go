package tables

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/sheet"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// byName finds names without folders among the images of all folders below. Each name that is found must be that of
// one image: it is an error, which shows them, if one is that of several. found is nil if there are none.
func (f *pathFinder) byName(paths []string) (found []foundPath, notice string, at int, err error) {
	if slices.ContainsFunc(paths, func(p string) bool { return strings.ContainsAny(p, "/\\") }) {
		return nil, "", 0, nil
	}
	images, _ := vfs.AllImages(f.in, f.folder) // that it cannot be listed is the scan's to say
	places := map[string][]string{}
	for _, p := range images {
		name := path.Base(p)
		places[name] = append(places[name], p)
		places[vfs.Stem(name)] = append(places[vfs.Stem(name)], p)
	}
	found = make([]foundPath, len(paths))
	for i, name := range paths {
		switch in := places[name]; {
		case len(in) > 1:
			return nil, "", i, fmt.Errorf("%s may be any of %s: write the folder before the name, or give a table for each folder: --labels FOLDER=TABLE", name, sheet.ListNames(in))
		case len(in) == 1:
			found[i] = foundPath{path.Join(f.folder, in[0]), true}
			notice = "its names are those of images in folders below, such as " + found[i].path
		}
	}
	if notice == "" {
		return nil, "", 0, nil
	}
	return found, notice, 0, nil
}
