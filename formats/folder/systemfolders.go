package folder

import (
	"fmt"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/dsconv/dsconv/formats"
)

// systemNames are the folders that programs other than the user put beside images, in lower case. Hidden
// folders, which begin with a dot, are others.
var systemNames = []string{
	"__macosx", "@eadir", "@recycle", "#recycle", "#snapshot", "$recycle.bin", "system volume information", "lost+found", "__pycache__",
}

func isSystemName(name string) bool {
	return strings.HasPrefix(name, ".") || slices.Contains(systemNames, strings.ToLower(name))
}

// inSystemFolder reports whether the file at a relative path is in a system folder.
func inSystemFolder(rel string) bool {
	folders := strings.Split(rel, "/")
	return slices.ContainsFunc(folders[:len(folders)-1], isSystemName)
}

// SystemFolder is a hidden or system folder, such as .git or __MACOSX, whose images are left out.
type SystemFolder struct {
	Path   string `json:"path"`
	Images int    `json:"images"`
}

// systemFolders decides which folders are left out, and counts their images.
type systemFolders struct {
	off     bool     // none are: a table says which files are images
	include []string // elements of the patterns that select files
	counts  map[string]int
}

func newSystemFolders(cfg *Config) *systemFolders {
	f := &systemFolders{off: cfg.Labels != "" && cfg.Unlisted != UnlistedFolder, counts: map[string]int{}}
	for _, pattern := range cfg.Patterns.Include {
		for element := range strings.SplitSeq(pattern, "/") {
			// As in a shell, a wildcard at the start does not match them.
			if element != "" && !strings.ContainsAny(element[:1], "*?") && doublestar.ValidatePattern(element) {
				f.include = append(f.include, element)
			}
		}
	}
	return f
}

// leavesOut reports whether the folder with that name is left out.
func (f *systemFolders) leavesOut(name string) bool {
	return !f.off && isSystemName(name) &&
		!slices.ContainsFunc(f.include, func(element string) bool { return doublestar.MatchUnvalidated(element, name) })
}

// list returns the folders that have images.
func (f *systemFolders) list() []SystemFolder {
	var list []SystemFolder
	for path, images := range f.counts {
		list = append(list, SystemFolder{Path: path, Images: images})
	}
	slices.SortFunc(list, func(a, b SystemFolder) int { return strings.Compare(a.Path, b.Path) })
	return list
}

// skip says why the images of the folder are not part of the dataset.
func (f *SystemFolder) skip(p *formats.Patterns) Skip {
	flags := fmt.Sprintf("--include '%s/'", f.Path)
	if len(p.Include) == 0 {
		flags = "--include '*' " + flags
	}
	return Skip{Path: f.Path, Cause: fmt.Sprintf("%d image(s) in a hidden or system folder, which is no class; to pack them too: %s", f.Images, flags)}
}

// listLeftOut sets what the scan found and left out. Their images are not the dataset's, whatever it has.
func (d *Dataset) listLeftOut(s *scan, p *formats.Patterns) {
	d.system = s.system.list()
	for i := range d.system {
		d.skips = append(d.skips, d.system[i].skip(p))
	}
	if l, ok := d.source.(*labeler); ok && l.table == nil {
		d.empty = s.classes.empty(&l.layout)
	}
}

// SystemFolders returns the hidden and system folders whose images are left out, by path. Skips has them
// too. Config.Patterns.Include packs a folder that it names; with a table of labels none is left out.
func (d *Dataset) SystemFolders() []SystemFolder { return d.system }

// EmptyFolders returns the folders in the place of a class that have no image, by path. They are no classes.
func (d *Dataset) EmptyFolders() []string { return d.empty }
