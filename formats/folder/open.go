package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/layout"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/recipepath"
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
		return errOtherFile(root)
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
	s.Progress = progressOf(ctx)
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
	if d.source, err = newSource(in, &cfg, s.Classes); err != nil {
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
	d.summarizeLabels()
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

func newSource(in vfs.FS, cfg *Config, folders layout.Folders) (source, error) {
	if len(cfg.FolderLabels) == 0 && isDescription(in, cfg.Labels) {
		return newDescriptionSource(in, cfg)
	}
	return newLabeler(in, cfg, folders)
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

func progressOf(ctx context.Context) func(files int) {
	report, _ := ctx.Value(progressKey{}).(func(files int))
	return report
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
