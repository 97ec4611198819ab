package dsconv

import (
	"context"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// archiveFormat opens an archive of images as the folder that it would be unpacked to.
type archiveFormat struct{}

// archiveName is the format's name.
const archiveName = "archive"

// Name is "archive".
func (archiveFormat) Name() string { return archiveName }

// Aliases implements formats.Aliased.
func (archiveFormat) Aliases() []string { return []string{"zip", "tgz"} }

// Match reports whether path is an archive, or a folder in one, and not a shard that dsconv wrote; or several sources
// that are read as one folder.
func (archiveFormat) Match(path string) bool {
	if sources := SplitSources(path); sources[0].Name != "" {
		return !slices.ContainsFunc(sources, func(s Source) bool { return !sourceExists(s.Path) })
	}
	file, _ := archive.SplitPath(path)
	return file != "" && !sharded.IsOwn(file)
}

// Open opens the archive or the sources at path with the zero folder.Config.
func (archiveFormat) Open(path string) (formats.Dataset, error) {
	if SplitSources(path)[0].Name != "" {
		return OpenSources(context.Background(), []string{path}, folder.Config{})
	}
	return openArchive(context.Background(), path, folder.Config{})
}

// sourceExists reports whether there is a file or a folder at path, or a folder in an archive.
func sourceExists(path string) bool {
	file, _ := archive.SplitPath(path)
	return file != "" || durable.Exists(path)
}

func openArchive(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	files, err := archive.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	d, err := folder.OpenTree(ctx, files, cfg)
	if err != nil {
		return nil, err // not d: a nil *folder.Dataset is not a nil Dataset
	}
	return d, nil
}
