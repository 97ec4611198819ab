package dsconv

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/archive"
	"github.com/dsconv/dsconv/formats/folder"
	"github.com/dsconv/dsconv/formats/shard"
	"github.com/dsconv/dsconv/formats/tfrecord"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/outside"
	"github.com/dsconv/dsconv/internal/storage/sharded"
	"github.com/dsconv/dsconv/reader"
)

// Open opens the dataset at path: one that dsconv wrote in any format, a folder of images, or an archive of one. If
// nothing is there the error is fs.ErrNotExist. A large folder takes a while to list; OpenSource can
// be cancelled.
func Open(path string) (formats.Dataset, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.Open: the path is empty")}
	}
	return Formats().Open(path)
}

// OpenSource opens what a dataset is packed from: a folder of images, an archive of one or a list of images, read as
// cfg says, or another dataset, for which cfg must name no labels or classes. "-" is a list that cfg.Stdin has, and
// "train=a.tar,val=b/" are several folders and archives as one: see SplitSources and OpenSources.
func OpenSource(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	if ctx == nil || path == "" {
		return nil, wrongOptions{errors.New("dsconv.OpenSource: the context is nil, or the path is empty")}
	}
	return OpenSources(ctx, []string{path}, cfg, formats.ReadOptions{})
}

// openOne opens a source that is none of several.
func openOne(ctx context.Context, path string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.OpenSources: the path is empty")}
	}
	if err := formats.CheckPath(path); err != nil {
		return nil, err
	}
	if err := checkKind(path); err != nil {
		return nil, err
	}
	f, err := Formats().ForReading(path, o)
	switch {
	case err != nil && o.Format != "":
		return nil, wrongOptions{err}
	case len(o.Map) == 0 && (path == "-" && cfg.Stdin != nil || err == nil && f.Name() == "list"):
		return openList(ctx, path, cfg)
	case err == nil && f.Name() == archiveName:
		return openArchive(ctx, path, cfg, o)
	case err == nil && f.Name() != "folder":
		if err := checkNoFolder(path, cfg, orArchive(path)); err != nil {
			return nil, err
		}
		ds, err := formats.OpenFormat(ctx, f, path, o)
		return ds, suggestFormat(f, path, err)
	case len(o.Map) > 0:
		return nil, errMapOfFolder(path)
	}
	return orNil(folder.Open(ctx, path, cfg))
}

// orNil returns d, or nil with an error: a nil *folder.Dataset is not a nil Dataset.
func orNil(d *folder.Dataset, err error) (formats.Dataset, error) {
	if err != nil {
		return nil, err
	}
	return d, nil
}

// suggestFormat adds the format that the content at path has to err, the error of a dataset that was opened as f.
func suggestFormat(f formats.Format, path string, err error) error {
	if !errors.Is(err, formats.ErrNotDataset) {
		return err
	}
	other, unknown := Formats().ByPath(path)
	if unknown != nil || other.Name() == f.Name() || other.Name() == "folder" {
		return err
	}
	return fmt.Errorf("%w; by its content it has the format %s: give --source-format %s, or leave it out", err, other.Name(), other.Name())
}

// checkNoFolder returns an error, which ends with the hint, if cfg has options of folders, and the source at path is a
// dataset.
func checkNoFolder(path string, cfg folder.Config, hint string) error {
	none := len(cfg.Fields) == 1 && cfg.Fields[0] == folder.FieldsNone
	if len(cfg.Fields)+len(cfg.Boxes)+len(cfg.Captions) > 0 && !none {
		return wrongOptions{fmt.Errorf("%s is a dataset with fields: --field, --boxes and --captions are for folders%s", path, hint)}
	}
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 || cfg.ClassOrder != "" {
		return wrongOptions{fmt.Errorf("%s is a dataset with labels: a table of labels and an order of classes are for folders%s", path, hint)}
	}
	return nil
}

func errMapOfFolder(path string) error {
	return wrongOptions{fmt.Errorf("%s is read as a folder of images: a map is for datasets of other programs; if it is one, name its format: --source-format webdataset, for example", path)}
}

func openList(ctx context.Context, path string, cfg folder.Config) (formats.Dataset, error) {
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 {
		return nil, wrongOptions{fmt.Errorf("%s is a list of images, which has its own labels: leave out tables of labels", path)}
	}
	return orNil(folder.OpenList(ctx, path, cfg))
}

// wrongOptions is a convert.ErrOptions; its text is the error's own.
type wrongOptions struct{ error }

func (e wrongOptions) Unwrap() error { return e.error }

func (wrongOptions) Is(target error) bool { return target == convert.ErrOptions }

// Source is one of several folders and archives that are read as one folder.
type Source struct {
	name string // the folder below which it is put; "" is the root
	Path string
}

// SplitSources returns the sources that a path stands for: "train=a.tar,val=b/" for two, each below the folder of its
// name. What exists as it stands is one path. A comma without NAME= after it is part of a file's name.
func SplitSources(path string) []Source {
	name, rest := splitSource(path)
	if name == "" {
		return []Source{{Path: path}}
	}
	sources := []Source{{name, rest}}
	for !durable.Exists(rest) {
		first, more, ok := cutSource(rest)
		if !ok {
			break
		}
		sources[len(sources)-1].Path = first
		name, rest, _ = strings.Cut(more, "=")
		sources = append(sources, Source{name, rest})
	}
	return sources
}

// cutSource cuts a list of sources before its second NAME=PATH.
func cutSource(list string) (first, rest string, ok bool) {
	for at, r := range list {
		if r != ',' {
			continue
		}
		if name, path, ok := strings.Cut(list[at+1:], "="); ok && name != "" && path != "" && !strings.ContainsAny(name, "/,") {
			return list[:at], list[at+1:], true
		}
	}
	return list, "", false
}

// splitAll returns what several sources of a caller stand for.
func splitAll(sources []string) (all []Source) {
	for _, source := range sources {
		all = append(all, SplitSources(source)...)
	}
	return all
}

// OpenSources opens several folders and archives as one folder of images, read as cfg says. "NAME=PATH" puts what is at
// PATH below the folder NAME: "train=ILSVRC2012_img_train.tar". Sources without a name are merged; it is an error, which
// names both, if two of them have an image of the same path. One source without a name may be anything that OpenSource
// opens.
//
// A source that another program wrote, which must be the only one, is read as o says. The format "archive" is for several
// too: archives that look like a WebDataset are then folders.
func OpenSources(ctx context.Context, sources []string, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if len(sources) == 0 {
		return nil, wrongOptions{errors.New("dsconv.OpenSources: no source is given")}
	}
	closeLate := func(ds formats.Dataset) { _ = ds.Close() } // nobody waits for it
	return lifetime.Call(ctx, func() (formats.Dataset, error) { return openAll(ctx, splitAll(sources), cfg, o) }, closeLate)
}

func openAll(ctx context.Context, all []Source, cfg folder.Config, o formats.ReadOptions) (formats.Dataset, error) {
	if len(all) == 1 && all[0].name == "" {
		return openOne(ctx, all[0].Path, cfg, o)
	}
	asArchives := false
	if o.Format != "" {
		f, err := Formats().ByName(o.Format)
		if err != nil {
			return nil, wrongOptions{err}
		}
		asArchives = f.Name() == archiveName
	}
	if o.Format != "" && !asArchives || len(o.Map) > 0 {
		return nil, wrongOptions{errors.New("a map and a source's format, but archive, are for one source, and not for several or one with a name")}
	}
	mounts, err := openMounts(ctx, all, asArchives)
	if err != nil {
		for _, m := range mounts {
			if m.Tree != nil {
				err = errors.Join(err, m.Tree.Close())
			}
		}
		return nil, err
	}
	return orNil(folder.OpenMounts(ctx, mounts, cfg))
}

// splitsByName says how to give several splits at once of formats whose files' names are splits; they may be patterns.
var splitsByName = map[string]string{
	"webdataset": "; or put the tars of all splits into one folder, with names such as train-0000.tar and val-0000.tar, and give that",
	"tf-example": "; or put the files of all splits into one folder, with names such as train-00000-of-00010, and give that",
}

// openMounts opens the archives among the sources, with asArchives also those that look like datasets. With an error it
// returns those that are open.
func openMounts(ctx context.Context, sources []Source, asArchives bool) (mounts []folder.Mount, err error) {
	for _, source := range sources {
		name, path := source.name, source.Path
		if err := checkKind(path); err != nil {
			return mounts, err
		}
		f, err := Formats().ByExistingPath(path)
		switch {
		case err != nil:
			return mounts, err
		case f.Name() == archiveName, asArchives && f.Name() != "folder" && sourceExists(path):
			files, err := openTree(ctx, path, name != "")
			if err != nil {
				return mounts, err
			}
			mounts = append(mounts, folder.Mount{Name: name, Tree: files})
		case f.Name() == "folder":
			mounts = append(mounts, folder.Mount{Name: name, Path: path})
		case !durable.Exists(path) && splitsByName[f.Name()] == "":
			return mounts, formats.NotFound(path)
		default:
			return mounts, wrongOptions{fmt.Errorf("%s is a dataset of the format %s: only folders and archives can be packed together; dsconv merge joins datasets%s",
				path, f.Name(), orArchive(path)+splitsByName[f.Name()])}
		}
	}
	return mounts, nil
}

// splitSource splits NAME=PATH. What exists as it stands is a path, and so is what has a slash before the sign.
func splitSource(source string) (name, path string) {
	name, path, ok := strings.Cut(source, "=")
	if _, err := os.Lstat(source); err == nil || !ok || name == "" || path == "" || strings.Contains(name, "/") {
		return "", source
	}
	return name, path
}

// checkOutside returns an error if dst is one of the sources, or in one.
func checkOutside(dst string, sources []string) error {
	for _, source := range splitAll(sources) {
		path := source.Path
		if file, _ := archive.SplitPath(path); file != "" {
			path = file
		}
		if err := outside.Check(dst, path); err != nil {
			return wrongOptions{err}
		}
	}
	return nil
}

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
	return orNil(folder.OpenTree(ctx, files, cfg))
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

// NewLoader opens the dataset at path, of any format, and returns a Loader of its batches. Closing
// the Loader closes the dataset.
func NewLoader(path string, c reader.Config) (*reader.Loader, error) {
	if path == "" {
		return nil, wrongOptions{errors.New("dsconv.NewLoader: the path is empty")}
	}
	return reader.Open(Formats(), path, c)
}

// Samples reads the samples of ds one after another, in the order of their keys. A Sample is valid
// until the next step: its memory is used again. Copy what is kept. After an error, which names the
// sample, the next step reads the next sample; formats.ErrClosed ends the loop.
func Samples(ds formats.Dataset) iter.Seq2[*formats.Sample, error] {
	return func(yield func(*formats.Sample, error) bool) {
		if ds == nil {
			yield(nil, wrongOptions{errors.New("dsconv.Samples: the dataset is nil: open one first")})
			return
		}
		var s formats.Sample
		for i := range ds.Len() {
			err := guard.Do(func() error { return ds.Read(i, &s) })
			if err == nil && !yield(&s, nil) || err != nil && (!yield(nil, err) || errors.Is(err, formats.ErrClosed)) {
				return
			}
		}
	}
}
