package folder

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

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
