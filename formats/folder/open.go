package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
	"github.com/dsconv/dsconv/formats/folder/internal/tables"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// UnfinishedName is the file that marks a folder which dsconv unpack has not completed.
const UnfinishedName = "dsconv-unpack.partial"

// Format opens folders with the zero Config.
type Format struct{}

// Name is "folder".
func (Format) Name() string { return "folder" }

// Match reports whether path is a folder.
func (Format) Match(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.IsDir()
}

// Open opens the folder at path.
func (Format) Open(path string) (formats.Dataset, error) {
	return Open(context.Background(), path, Config{})
}

// Open lists the folder and reads the table of labels, but no image. Skips returns the images
// that cannot be part of the dataset. The error is about the whole: no folder, no image, an
// invalid table.
func Open(ctx context.Context, root string, cfg Config) (*Dataset, error) {
	if err := formats.CheckPath(root); err != nil {
		return nil, err
	}
	if err := cmp.Or(cfg.Patterns.Validate(), checkRoot(root)); err != nil {
		return nil, err
	}
	return openIn(ctx, vfs.OnDisk(root), cfg)
}

// checkRoot returns an error if there is nothing at root, a file, or an unfinished folder.
func checkRoot(root string) error {
	st, err := os.Stat(root)
	switch {
	case errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return formats.NotFound(root)
	case err == nil && !st.IsDir():
		if advice := adviceOn(root); advice != "" {
			return fmt.Errorf("%s: %w: %s", root, formats.ErrNotDataset, advice)
		}
		return fmt.Errorf("%s is not a folder, and its name and content are of no file that is read", root)
	}
	if _, err := os.Lstat(filepath.Join(root, UnfinishedName)); err == nil {
		return fmt.Errorf("%s: an unfinished dsconv unpack: repeat the unpack command to finish it, which removes the file %s", root, UnfinishedName)
	}
	return nil
}

// openIn opens the folder in in. What cannot be read ends the listing: it may have images.
func openIn(ctx context.Context, in vfs.FS, cfg Config) (*Dataset, error) {
	filter, err := cfg.Patterns.Compile()
	if err != nil {
		return nil, err
	}
	if cfg.Memory < 0 {
		return nil, fmt.Errorf("folder.Open: Config.Memory is %d: use 0 for the default, or a number above 0", cfg.Memory)
	}
	system := listing.NewSystemFolders(cfg.Labels != "", cfg.Patterns.Include)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watched := vfs.Watch(in, func(name string) bool { return mayBeUnreadable(system, filter, name) }, cancel)
	d, err := openWatched(ctx, watched, system, filter, cfg)
	if unread := watched.Err(); err != nil && unread != nil {
		err = unread // what it led to says less
	}
	return d, err
}

// mayBeUnreadable reports whether a file or folder is left out: the patterns say so, or it is in a system folder.
func mayBeUnreadable(system *listing.SystemFolders, filter *formats.FileFilter, name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if system.LeavesOut(part) {
			return true
		}
	}
	return !filter.IncludesFolder(name) || vfs.HasImageName(name) && !filter.IncludesFile(name)
}

func openWatched(ctx context.Context, in *vfs.Watched, system *listing.SystemFolders, filter *formats.FileFilter, cfg Config) (_ *Dataset, err error) {
	l := newSorting(&cfg)
	defer func() { err = errors.Join(err, l.close()) }()
	d := &Dataset{in: in, filter: filter, isList: cfg.list != nil}
	if d.fields, err = newFields(in, &cfg); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.fields.Close())
		}
	}()
	s := listing.New(in, filter, l.found, system, d.fields)
	s.Progress, _ = ctx.Value(progressKey{}).(func(files int))
	if err := d.list(ctx, s, &cfg); err != nil {
		return nil, err
	}
	d.skips, d.ignored, d.unmatched = slices.Concat(s.Skips, in.Refused()), s.Ignored, filter.Unmatched()
	if d.fields != nil {
		s.Classes = d.fields.Folders()
		if err := d.fields.Finish(ctx); err != nil {
			return nil, err
		}
	}
	if len(cfg.FolderLabels) == 0 && isDescription(in, cfg.Labels) {
		d.source, err = newDescriptionSource(in, &cfg)
	} else {
		d.source, err = newLabeler(in, &cfg, s.Classes)
	}
	if err != nil {
		return nil, err
	}
	if err := d.useFields(&cfg); err != nil {
		return nil, err
	}
	d.leaveOutTexts(s.Texts)
	d.listLeftOut(s, &cfg.Patterns)
	d.listArchives(s.Archives, &cfg)
	if description, ok := d.source.(*descriptionSource); ok {
		d.ignored = max(0, d.ignored-description.countKnownFiles(in))
	}
	d.describe(&cfg)
	d.noticeFolders(&cfg, s.Classes)
	d.notices = append(d.notices, vfs.Notices(in)...)
	if err := d.meta.Schema.Validate(); err != nil && d.fields != nil {
		return nil, fmt.Errorf("%s: %w: give the field another name", in, err)
	}
	if err := d.add(ctx, l); err != nil {
		return nil, err
	}
	d.recordAnnotations(&cfg)
	for k := range d.columns {
		d.columns[k].Summary = d.columns[k].describe()
	}
	d.skips = append(d.skips, d.source.missing(in)...)
	slices.SortFunc(d.skips, func(a, b formats.Skip) int { return strings.Compare(a.Path, b.Path) })
	d.listUnreadable()
	if d.Len() == 0 {
		return nil, d.noImages()
	}
	if err := in.Err(); err != nil {
		return nil, errors.Join(err, d.records.Close())
	}
	d.gate.Open(in.String(), func() error { return errors.Join(d.records.Close(), d.fields.Close(), in.Close()) })
	if file := in.Join("labels.json"); cfg.Labels == "" && len(cfg.FolderLabels) == 0 && cfg.list == nil {
		if _, err := readDescription(in, file); err == nil {
			d.unusedDescription = file
		}
	}
	return d, nil
}

// list finds the files: those below the root, or those of a list.
func (d *Dataset) list(ctx context.Context, s *listing.Scan, cfg *Config) error {
	if cfg.list == nil {
		return s.Walk(ctx)
	}
	if d.fields != nil && !slices.Equal(cfg.Fields, []string{FieldsNone}) {
		return fmt.Errorf("%s is a list of images: --field, --boxes and --captions are for folders", d.in)
	}
	return s.WalkList(ctx, cfg.list.Paths, cfg.list.Exists)
}

// describe sets what is known before the files.
func (d *Dataset) describe(cfg *Config) {
	d.meta = formats.Meta{Format: "folder", Schema: d.source.schema(), Columns: d.source.userColumns(), Recipe: cfg.recipe()}
	if d.fields != nil {
		d.meta.Schema = append(d.meta.Schema, d.fields.Schema()...)
	}
	d.meta.Recipe = recipepath.Replace(d.meta.Recipe, d.in.Recorded)
	if description, ok := d.source.(*descriptionSource); ok {
		d.meta.Renamed = description.Renamed
	}
	d.meta.Version = d.meta.RequiredVersion()
	if folders, ok := d.source.(*labeler); ok {
		d.columns = folders.labelColumns()
		d.notices = folders.notices()
	}
	if cfg.Labels == "" && len(cfg.FolderLabels)+len(cfg.Captions)+len(cfg.Boxes) == 0 && cfg.list == nil {
		d.notices = append(d.notices, metadataNotices(d.in)...)
	}
}

type progressKey struct{}

// WithProgress returns a context with which opening a folder or a list calls report, from time to time and from one goroutine
// at a time, with the number of files and folders that were found so far. report must return soon, and may be called until the
// folder is open.
func WithProgress(ctx context.Context, report func(files int)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// Question returns an error that asks what files are that may be fields of images, such as 1_mask.png beside 1.jpg,
// and names the answers. It is nil if there are none or few, and if Config has a table of labels or says it by Fields, Boxes or
// Captions. The Dataset takes all images as samples of their own, so whoever makes a dataset of it should ask first.
func (d *Dataset) Question() error {
	err := d.questions.Ask(d.in.String())
	if err != nil && d.unusedDescription != "" {
		err = fmt.Errorf("%w. Or give the table that dsconv unpack wrote: --labels %s", err, d.unusedDescription)
	}
	return err
}

// Tree is a file system that is a source of its own, such as an archive (*archive.FS). It must allow concurrent reads.
type Tree = vfs.Tree

// OpenTree is Open for a Tree, which the Dataset owns: Close closes it, and so does an error. Paths in cfg are those
// of files on the disk, or else in the Tree. Keys, labels, skips and samples are those of the same files on the disk.
func OpenTree(ctx context.Context, t Tree, cfg Config) (*Dataset, error) {
	return openOwned(ctx, vfs.NewTree(t), cfg)
}

// openOwned opens in, which it closes if that fails.
func openOwned(ctx context.Context, in vfs.FS, cfg Config) (_ *Dataset, err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, in.Close())
		}
	}()
	return openIn(ctx, in, cfg)
}

// Mount is one of several sources: a folder of the disk at Path, or the Tree, if that is not nil. Its files are below
// the folder Name, or in the root if that is "".
type Mount struct {
	Name, Path string
	Tree       Tree
}

// OpenMounts opens several sources as one folder. The Dataset owns their Trees, as OpenTree's. It is an error, which
// names both sources, if two of them have an image of the same path.
func OpenMounts(ctx context.Context, mounts []Mount, cfg Config) (*Dataset, error) {
	in, err := mountAll(mounts)
	var filter *formats.FileFilter
	if err == nil {
		filter, err = cfg.Patterns.Compile()
	}
	u := vfs.Join(in, filter)
	if err != nil {
		return nil, errors.Join(err, u.Close())
	}
	d, err := openOwned(ctx, u, cfg)
	if err != nil {
		return nil, err
	}
	if err := d.checkMounts(mounts); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, m := range mounts {
		if m.Tree == nil && isEmptyFolder(m.Path) {
			d.notices = append(d.notices, fmt.Sprintf("the source %s is an empty folder: is it mounted?", m.Path))
		}
	}
	return d, nil
}

func isEmptyFolder(path string) bool {
	f, err := unblocked.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = f.ReadDir(1)
	return errors.Is(err, io.EOF)
}

// mountAll returns all mounts, so that all can be closed, and an error about those that are wrong.
func mountAll(mounts []Mount) (all []vfs.Mount, err error) {
	for _, m := range mounts {
		in := vfs.OnDisk(m.Path)
		if m.Tree != nil {
			in = vfs.NewTree(m.Tree)
		}
		all = append(all, vfs.Mount{Name: m.Name, In: in})
		switch {
		case m.Name != "" && (strings.ContainsAny(m.Name, "/\\") || formats.CheckKey(m.Name) != nil):
			err = errors.Join(err, fmt.Errorf("%q cannot be the name of a folder for %s: use one without slashes", m.Name, in))
		case m.Tree == nil:
			err = errors.Join(err, checkRoot(m.Path))
		}
	}
	if len(mounts) == 0 {
		err = errors.New("folder.OpenMounts: there are no sources: give one at least")
	}
	return all, err
}

// ListFormat opens lists of images with the zero Config.
type ListFormat struct{}

// Name is "list".
func (ListFormat) Name() string { return "list" }

// Match reports whether path is a file with the suffix of a list: see IsList.
func (ListFormat) Match(path string) bool { return path != tables.Stdin && IsList(path) }

// Open opens the list at path.
func (ListFormat) Open(path string) (formats.Dataset, error) {
	d, err := OpenList(context.Background(), path, Config{})
	if err != nil {
		return nil, err // not d: a nil *Dataset is not a nil formats.Dataset
	}
	return d, nil
}

// listExtensions are those of lists.
var listExtensions = []string{".csv", ".tsv", ".jsonl", ".ndjson", ".json", ".txt", ".lst", ".parquet"}

// IsList reports whether path is "-" or a file whose suffix is that of a list of images.
func IsList(path string) bool {
	if path == tables.Stdin {
		return true
	}
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular() && slices.Contains(listExtensions, strings.ToLower(filepath.Ext(path)))
}

// OpenList opens the images that a file lists: a .csv, .tsv, .jsonl, .json or .parquet table with a column of
// paths, or a .txt file with a path on each line, and perhaps a label. "-" reads Config.Stdin, which has a path or a
// JSON object on each line. Paths are absolute, or relative to the folder of the list; those of "-" to the current
// folder. Columns are those of tables of labels. Without labels the images have those of class folders.
//
// The Dataset is that of the deepest folder that has all images, with these images alone. Skips has the rows whose
// files cannot be packed.
func OpenList(ctx context.Context, file string, cfg Config) (*Dataset, error) {
	if file != tables.Stdin {
		if err := formats.CheckPath(file); err != nil {
			return nil, err
		}
	}
	if cfg.Labels != "" || len(cfg.FolderLabels) > 0 {
		return nil, fmt.Errorf("%s: a list of images has its own labels: leave out --labels", tables.ListName(file))
	}
	if err := cfg.Patterns.Validate(); err != nil {
		return nil, err
	}
	root, table, err := tables.ReadList(file, cfg.Stdin, cfg.LabelColumns)
	if advice := adviceOn(file); err != nil && advice != "" {
		return nil, fmt.Errorf("%s: %w: %s", file, formats.ErrNotDataset, advice)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", tables.ListName(file), err)
	}
	cfg.list = table
	return openIn(ctx, vfs.OnDisk(root), cfg)
}
