package dsconv

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
)

// archiveFormat opens an archive of images as the folder that it would be unpacked to.
type archiveFormat struct{}

// archiveName is the format's name.
const archiveName = "archive"

// Name is "archive".
func (archiveFormat) Name() string { return archiveName }

// Aliases implements formats.Aliased.
func (archiveFormat) Aliases() []string { return []string{"zip", "tgz"} }

// Match reports whether path is an archive, or a folder in one, and not a shard that dsconv wrote.
func (archiveFormat) Match(path string) bool {
	file, _ := archive.SplitPath(path)
	return file != "" && !hasSidecar(file)
}

// hasSidecar reports whether dsconv wrote the file: x-000003.tar is a shard if there is an x.tar.dsconv. While a new
// version is published there may be none, but then there is an x.tar.partial.
func hasSidecar(file string) bool {
	dir, name := filepath.Split(file)
	stem, ext, _ := strings.Cut(name, ".")
	for _, one := range []string{stem, strings.TrimRight(strings.TrimRight(stem, "0123456789"), "-_.")} {
		p, err := sharded.ParseShardPath(dir + one + "." + ext)
		if err != nil {
			continue
		}
		if _, err := os.Lstat(p.Sidecar()); err == nil || sidecar.HasPartial(dir+one+"."+ext) {
			return true
		}
	}
	return false
}

// Open opens the archive at path with the zero folder.Config.
func (archiveFormat) Open(path string) (formats.Dataset, error) {
	return openArchive(context.Background(), path, folder.Config{})
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
