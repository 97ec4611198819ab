package folder

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// SystemFolder is a hidden or system folder, such as .git or __MACOSX, whose images are left out.
type SystemFolder struct {
	Path   string `json:"path"`
	Images int    `json:"images"`
}

// listLeftOut sets what the scan found and left out. Their images are not the dataset's, whatever it has.
func (d *Dataset) listLeftOut(s *listing.Scan, p *formats.Patterns) {
	for _, folder := range slices.Sorted(maps.Keys(s.System.Counts)) {
		flags := fmt.Sprintf("--include '%s/'", folder)
		if len(p.Include) == 0 {
			flags = "--include '*' " + flags
		}
		n := s.System.Counts[folder]
		d.system = append(d.system, SystemFolder{Path: folder, Images: n})
		d.skips = append(d.skips, formats.Skip{Path: folder, Cause: fmt.Sprintf("%d image(s) in a hidden or system folder, which is no class; to pack them too: %s", n, flags)})
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

// leaveOutTexts ignores files that are text, such as a README: only those that a table names were meant to be images.
func (d *Dataset) leaveOutTexts(texts []string) {
	l, _ := d.source.(*labeler)
	for _, rel := range texts {
		if l != nil && l.table != nil && l.table.Rows[rel] != nil {
			d.skips = append(d.skips, formats.Skip{Path: rel, Cause: "not an image: it is text"})
		} else {
			d.ignored++
		}
	}
}

// listArchives skips the archives in the folder, whose images would be missing without a word: some classes of a folder
// may be unpacked and others not. Tables of labels, as ImageNet's devkit, and shards that dsconv wrote are none of them.
func (d *Dataset) listArchives(found []string, cfg *Config) {
	tables := append(slices.Collect(maps.Values(cfg.FolderLabels)), cfg.Labels, cfg.ClassOrder)
	for _, rel := range found {
		file := d.in.Join(rel)
		if sharded.IsOwn(file) || slices.ContainsFunc(tables, func(table string) bool { return isSameFile(table, file) }) {
			d.ignored++
			continue
		}
		d.skips = append(d.skips, formats.Skip{Path: rel, Cause: fmt.Sprintf("an archive in a folder of images is not read: unpack it, or give it as one more source, as in NAME=%s; --exclude leaves it out", file)})
	}
}

func isSameFile(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// suggestArchives returns what to do with the archives in a folder without images; "" if it has none.
func suggestArchives(dir string) string {
	entries, err := os.ReadDir(dir)
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool { return vfs.HasArchiveName(e.Name()) })
	if err != nil || i < 0 {
		return ""
	}
	return fmt.Sprintf("; it has archives: give them as sources, as in train=%s, or %s if each has the images of one class, or %s if they are shards",
		filepath.Join(dir, entries[i].Name()), "--source-format archive", "--source-format webdataset")
}
