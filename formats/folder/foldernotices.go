package folder

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// noLabels is the notice for a dataset of images alone.
const noLabels = "no labels: no table gives them, and the images are in no class folders"

// noticeFolders adds what may be overlooked about labels from class folders to the notices.
func (d *Dataset) noticeFolders(cfg *Config, folders layout.Folders) {
	l, ok := d.source.(*labeler)
	switch {
	case d.meta.Schema.LabelIndex() < 0:
		d.notices = append(d.notices, noLabels)
	case ok && l.fromFolders() && !d.isList:
		d.notices = append(d.notices, l.layout.Notices(&layout.Reading{Folders: folders, Where: d.where, Ordered: cfg.ClassOrder != ""})...)
	}
}

func (d *Dataset) where(rel string) string { return vfs.Where(d.in, rel) }

// fromFolders reports whether images may have the class of their folder.
func (l *labeler) fromFolders() bool { return l.table == nil || l.byFolder }

// checkMounts returns an error if all class folders of a source that is mounted as a split are named as splits: nobody
// means these as classes, and the labels would be lost without a word.
func (d *Dataset) checkMounts(mounts []Mount) error {
	l, ok := d.source.(*labeler)
	if !ok || !l.fromFolders() {
		return nil
	}
	var all error
	for _, m := range mounts {
		if !slices.Contains(layout.Splits, m.Name) {
			continue
		}
		if sources := l.layout.SplitsBelow(m.Name, d.where); sources != "" {
			all = errors.Join(all, fmt.Errorf("%s: it has folders named as splits where %s must have classes: pack %s", d.where(m.Name), m.Name, sources))
		}
	}
	return all
}
