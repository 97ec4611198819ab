package dsconv

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// archiveFormat opens an archive as the folder that it would be unpacked to.
type archiveFormat struct{}

// archiveName is the format's name.
const archiveName = "archive"

// Name is "archive".
func (archiveFormat) Name() string { return archiveName }

// Aliases implements formats.Aliased.
func (archiveFormat) Aliases() []string { return []string{"zip", "tgz"} }

// Match reports whether path is an archive, a folder in one, or a folder with an archive for each class, and not a shard that
// dsconv wrote; or several sources that are read as one folder.
func (archiveFormat) Match(path string) bool {
	if sources := SplitSources(path); sources[0].name != "" {
		return !slices.ContainsFunc(sources, func(s Source) bool { return !sourceExists(s.Path) })
	}
	if file, _ := archive.SplitPath(path); file != "" {
		return !sharded.IsOwn(file)
	}
	classes := archive.ListClassArchives(path)
	return len(classes) > 0 && !slices.ContainsFunc(classes, sharded.IsOwn)
}

// Open opens the archive or the sources at path with the zero folder.Config.
func (f archiveFormat) Open(path string) (formats.Dataset, error) {
	return f.OpenWith(context.Background(), path, formats.ReadOptions{})
}

// OpenWith is Open; a map is refused.
func (archiveFormat) OpenWith(ctx context.Context, path string, o formats.ReadOptions) (formats.Dataset, error) {
	if SplitSources(path)[0].name != "" {
		return OpenSources(ctx, []string{path}, folder.Config{}, o)
	}
	return openArchive(ctx, path, folder.Config{}, o)
}

// orArchive says how the dataset at path, a tar of another program, is read as an archive of images; "" if it is none.
func orArchive(path string) string {
	if file, _ := archive.SplitPath(path); file == "" || sharded.IsOwn(file) {
		return ""
	}
	return "; --source-format archive reads it as an archive of images"
}

// unreadKinds are the names of archives that are of no kind that dsconv reads.
var unreadKinds = []string{".7z", ".rar", ".tar.z", ".zip.gz", ".cpio", ".tar.lz", ".tar.lz4", ".tar.lzma", ".tar.br"}

// checkKind returns an error if the file at path is an archive of a kind that dsconv does not read.
func checkKind(path string) error {
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() || !slices.ContainsFunc(unreadKinds, func(end string) bool { return strings.HasSuffix(strings.ToLower(path), end) }) {
		return nil //nolint:nilerr // opening it says what is wrong
	}
	return wrongOptions{fmt.Errorf("%s: dsconv reads zip, tar, tar.gz and tar.zst, and no archives of this kind: unpack it, and give the folder", path)}
}

// sourceExists reports whether there is a file or a folder at path, a folder in an archive, or shards whose pattern it is.
func sourceExists(path string) bool {
	if file, _ := archive.SplitPath(path); file != "" || durable.Exists(path) {
		return true
	}
	return shard.WebDataset{}.Match(path) || tfrecord.Examples{}.Match(path)
}

func openArchive(ctx context.Context, path string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if len(o.Map) > 0 {
		return nil, errMapOfFolder(path)
	}
	files, err := openTree(ctx, path, false)
	if err != nil {
		return nil, err
	}
	d, err := folder.OpenTree(ctx, files, cfg)
	if err != nil {
		return nil, err // not d: a nil *folder.Dataset is not a nil Dataset
	}
	return d, nil
}

// openTree opens what archiveFormat matches. mounted says that it is put below a folder of another name.
func openTree(ctx context.Context, path string, mounted bool) (folder.Tree, error) {
	if st, err := os.Stat(path); err == nil && st.IsDir() {
		return archive.OpenClassArchives(ctx, path)
	}
	if mounted {
		return archive.OpenMounted(ctx, path)
	}
	return archive.Open(ctx, path)
}
