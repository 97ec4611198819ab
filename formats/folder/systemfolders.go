package folder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
)

// SystemFolder is a hidden or system folder, such as .git or __MACOSX, whose images are left out.
type SystemFolder struct {
	Path   string `json:"path"`
	Images int    `json:"images"`
}

// systemFoldersOf returns the folders that have images, by path.
func systemFoldersOf(counts map[string]int) []SystemFolder {
	var list []SystemFolder
	for path, images := range counts {
		list = append(list, SystemFolder{Path: path, Images: images})
	}
	slices.SortFunc(list, func(a, b SystemFolder) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// skip says why the images of the folder are not part of the dataset.
func (f *SystemFolder) skip(p *formats.Patterns) formats.Skip {
	flags := fmt.Sprintf("--include '%s/'", f.Path)
	if len(p.Include) == 0 {
		flags = "--include '*' " + flags
	}
	return formats.Skip{Path: f.Path, Cause: fmt.Sprintf("%d image(s) in a hidden or system folder, which is no class; to pack them too: %s", f.Images, flags)}
}

// listLeftOut sets what the scan found and left out. Their images are not the dataset's, whatever it has.
func (d *Dataset) listLeftOut(s *listing.Scan, p *formats.Patterns) {
	d.system = systemFoldersOf(s.System.Counts)
	for i := range d.system {
		d.skips = append(d.skips, d.system[i].skip(p))
	}
	if l, ok := d.source.(*labeler); ok && l.table == nil {
		d.empty = s.Classes.Empty(&l.layout)
	}
}

// SystemFolders returns the hidden and system folders whose images are left out, by path. Skips has them
// too. Config.Patterns.Include packs a folder that it names; with a table of labels none is left out.
func (d *Dataset) SystemFolders() []SystemFolder { return d.system }

// EmptyFolders returns the folders in the place of a class that have no image, by path. They are no classes.
func (d *Dataset) EmptyFolders() []string { return d.empty }
