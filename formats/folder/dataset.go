package folder

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/recipepath"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Dataset is a folder of images, on the disk or in an fs.FS. It is safe for concurrent use.
type Dataset struct {
	in            filesystem
	gate          lifetime.Gate
	meta          formats.Meta
	records       *records
	source        source
	skips         []Skip
	ignored       int
	columns       []LabelColumn
	notices       []string // how labels were found
	isList        bool
	keepExtension []string // keys with their extension, because two files share a stem

	filter            *formats.FileFilter
	system            []SystemFolder
	empty             []string // folders without images
	unreadable        []string
	unmatched         formats.Patterns
	unusedDescription string // a description in the folder, if no table was given

	questions  questions
	fields     *fieldSet // nil without
	firstField int       // the position of its fields in the schema
}

type sample struct {
	file
	key, split string
	labels     []int64 // one per label field of the schema, a number as its bits; the set classes if multi-hot
	columns    []string
	row        []string // of the table, if there is a description
}

// source gives the images of a folder their labels: a labeler or a descriptionSource.
type source interface {
	// includes reports whether the file is an image of a sample.
	includes(path string) bool
	// label sets what the sample at it.path has, or returns why it is skipped.
	label(it *sample) (why string)
	missing(in filesystem) []Skip
	schema() formats.Schema
	userColumns() []string
}

var _ formats.Dataset = (*Dataset)(nil)

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
	if ctx == nil {
		return nil, errors.New("folder.Open: ctx is nil: give context.Background()")
	}
	if err := formats.CheckPath(root); err != nil {
		return nil, err
	}
	filter, err := cfg.Patterns.Compile()
	if err != nil {
		return nil, err
	}
	if err := checkRoot(root); err != nil {
		return nil, err
	}
	return openIn(ctx, disk(root), filter, cfg)
}

// checkRoot returns an error if there is nothing at root, or an unfinished folder.
func checkRoot(root string) error {
	if _, err := os.Stat(root); errors.Is(err, os.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return formats.NotFound(root)
	}
	if _, err := os.Lstat(filepath.Join(root, UnfinishedName)); err == nil {
		return fmt.Errorf("%s: an unfinished dsconv unpack: repeat the unpack command to finish it, which removes the file %s", root, UnfinishedName)
	}
	return nil
}

// OpenFS is Open for a file system: an embed.FS, a *zip.Reader, an os.DirFS, a fstest.MapFS. The root of
// fsys is the folder; Config.Labels and the file of Config.ClassOrder are paths in fsys. Keys, labels,
// skips and samples are those of the same files on the disk. Files need no time. fsys must allow
// concurrent reads, as all of these do, and must not be closed before the Dataset.
func OpenFS(ctx context.Context, fsys fs.FS, cfg Config) (*Dataset, error) {
	if fsys == nil {
		return nil, errors.New("folder: OpenFS of a nil file system")
	}
	filter, err := cfg.Patterns.Compile()
	if err != nil {
		return nil, err
	}
	in := virtual{fsys}
	if _, err := in.lstat(UnfinishedName); err == nil {
		return nil, fmt.Errorf("%s: an unfinished dsconv unpack: it has the file %s", in, UnfinishedName)
	}
	return openIn(ctx, in, filter, cfg)
}

func openIn(ctx context.Context, in filesystem, filter *formats.FileFilter, cfg Config) (_ *Dataset, err error) {
	if cfg.Memory < 0 {
		return nil, fmt.Errorf("folder.Open: Config.Memory is %d: use 0 for the default, or a number above 0", cfg.Memory)
	}
	l := newSorting(&cfg)
	defer func() { err = errors.Join(err, l.close()) }()
	s := &scan{in: in, filter: filter, found: &l.found, system: newSystemFolders(&cfg)}
	if s.fields, err = newFieldSet(in, &cfg); err != nil {
		return nil, err
	}
	d := &Dataset{in: in, filter: filter, fields: s.fields, isList: cfg.list != nil}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.fields.close())
		}
	}()
	if err := d.list(ctx, s, &cfg); err != nil {
		return nil, err
	}
	d.skips, d.ignored, d.unmatched = slices.Concat(s.skips, in.refused()), s.ignored, filter.Unmatched()
	if err := d.fields.listed(ctx, s); err != nil {
		return nil, err
	}
	if d.source, err = newSource(in, &cfg, s.classes); err != nil {
		return nil, err
	}
	if err := d.useFields(&cfg); err != nil {
		return nil, err
	}
	d.listLeftOut(s, &cfg.Patterns)
	if description, ok := d.source.(*descriptionSource); ok {
		d.ignored = max(0, d.ignored-description.countKnownFiles(in))
	}
	d.describe(&cfg)
	if err := d.meta.Schema.Validate(); err != nil && d.fields != nil {
		return nil, fmt.Errorf("%s: %w: give the field another name", in, err)
	}
	if err := d.add(ctx, l); err != nil {
		return nil, err
	}
	d.summarizeLabels()
	d.skips = append(d.skips, d.source.missing(in)...)
	slices.SortFunc(d.skips, func(a, b Skip) int { return strings.Compare(a.Path, b.Path) })
	d.listUnreadable(s.dangling)
	if d.Len() == 0 {
		return nil, d.noImages()
	}
	d.gate.Open(in.String(), func() error { return errors.Join(d.records.close(), d.fields.close(), in.close()) })
	if file := in.join("labels.json"); cfg.Labels == "" && len(cfg.FolderLabels) == 0 && cfg.list == nil {
		if _, err := readDescription(in, file); err == nil {
			d.unusedDescription = file
		}
	}
	return d, nil
}

// list finds the files: those below the root, or those of a list.
func (d *Dataset) list(ctx context.Context, s *scan, cfg *Config) error {
	if cfg.list == nil {
		if err := d.fields.findStems(ctx, s); err != nil {
			return err
		}
		return s.walk(ctx)
	}
	if d.fields != nil && !slices.Equal(cfg.Fields, []string{FieldsNone}) {
		return fmt.Errorf("%s is a list of images: --field, --boxes and --captions are for folders", d.in)
	}
	return s.walkList(ctx, cfg.list.table)
}

func newSource(in filesystem, cfg *Config, folders classFolders) (source, error) {
	if len(cfg.FolderLabels) == 0 && isDescription(in, cfg.Labels) {
		return newDescriptionSource(in, cfg)
	}
	return newLabeler(in, cfg, folders)
}

// describe sets what is known before the files.
func (d *Dataset) describe(cfg *Config) {
	d.meta = formats.Meta{Format: "folder", Schema: d.source.schema(), Columns: d.source.userColumns(), Recipe: cfg.recipe()}
	if d.fields != nil {
		d.meta.Schema = append(d.meta.Schema, d.fields.schema()...)
	}
	d.meta.Recipe = recipepath.Replace(d.meta.Recipe, d.in.recorded)
	if description, ok := d.source.(*descriptionSource); ok {
		d.meta.Renamed = description.Renamed
	}
	d.meta.Version = d.meta.RequiredVersion()
	if folders, ok := d.source.(*labeler); ok {
		d.columns = folders.labelColumns()
		d.notices = folders.notices()
	}
}

// UnusedDescription returns the path of the description of labels, splits and columns that dsconv
// unpack wrote into the folder, if no table was given; "" if there is none.
func (d *Dataset) UnusedDescription() string { return d.unusedDescription }

// LabelNotices says how labels were found where that is not evident: which file is for which folder, which of
// its columns were taken, what was left out of its paths.
func (d *Dataset) LabelNotices() []string { return d.notices }

func (d *Dataset) noImages() error {
	err := fmt.Errorf("%s: no image to read in this folder", d.in)
	if len(d.skips) > 0 {
		err = fmt.Errorf("%w (%d skipped, such as %s: %s)", err, len(d.skips), d.skips[0].Path, d.skips[0].Cause)
	}
	if patterns := d.unmatched.String(); patterns != "" {
		err = fmt.Errorf("%w; nothing matches %s", err, patterns)
	}
	if root, onDisk := d.in.(disk); onDisk {
		err = fmt.Errorf("%w%s", err, cmp.Or(sharded.SuggestDatasets(string(root)), suggestArchives(string(root))))
	}
	return err
}

// Meta describes the folder.
func (d *Dataset) Meta() *formats.Meta { return &d.meta }

// Len returns the number of images.
func (d *Dataset) Len() int { return d.records.count }

// Root returns the folder that the samples' Source.Path is relative to: for a list of images, the deepest one that
// has all of them. For an fs.FS it is a text for messages.
func (d *Dataset) Root() string { return d.in.String() }

// IsList reports whether the images are those of a list: see OpenList.
func (d *Dataset) IsList() bool { return d.isList }

// Skips returns the inputs that are not part of the dataset, by path.
func (d *Dataset) Skips() []Skip { return d.skips }

// Ignored returns the number of files whose names are not those of images.
func (d *Dataset) Ignored() int { return d.ignored }

// Unmatched returns the patterns of Config.Patterns that matched no image and no folder.
func (d *Dataset) Unmatched() formats.Patterns { return d.unmatched }

// KeepExtension returns the paths whose keys keep the extension because another image has the
// same stem.
func (d *Dataset) KeepExtension() []string { return d.keepExtension }

// sample returns what is known of sample i without its file.
func (d *Dataset) sample(i int) (*sample, error) {
	if err := d.gate.Enter(i); err != nil {
		return nil, err
	}
	defer d.gate.Leave(i)
	if i < 0 || i >= d.Len() {
		return nil, fmt.Errorf("%s: index %d out of range: the folder has %d samples", d.in, i, d.Len())
	}
	it := new(sample)
	err := d.records.read(i, it)
	if err == nil {
		d.fields.locate(it)
		d.source.label(it)
	}
	return it, err
}

// Info returns what the listing of the folder has about sample i.
func (d *Dataset) Info(i int) (formats.Info, error) {
	it, err := d.sample(i)
	if err != nil {
		return formats.Info{}, err
	}
	return d.info(it), nil
}

func (d *Dataset) info(it *sample) formats.Info {
	in := formats.Info{
		Key: it.key, Split: it.split, Label: formats.NoLabel, Size: it.size, Columns: it.columns,
		Source: formats.Source{Path: it.path, Size: it.size, ModTime: it.modTime},
	}
	if l := d.meta.Schema.LabelIndex(); l >= 0 && d.meta.Schema[l].Kind == formats.Label {
		in.Label = it.labels[0]
	}
	return in
}

// LabelSum returns the label of sample i if it has only one, else a checksum of all its labels. It is 0 if
// Info returns an error.
func (d *Dataset) LabelSum(i int) int64 {
	it, err := d.sample(i)
	if err != nil {
		return 0
	}
	list, h := it.labels, fnv.New64a()
	switch _, described := d.source.(*descriptionSource); {
	case described:
		_, _ = fmt.Fprintf(h, "%q", it.row) // writing to a hash never fails
	case len(list) == 1 && d.meta.Schema[1].Kind == formats.Label:
		return list[0]
	default:
		_ = binary.Write(h, binary.LittleEndian, list)
	}
	return int64(h.Sum64())
}

// Read reads the file of sample i. Its encoding follows from its first bytes and is "" if
// it is not an image; its shape is unknown.
func (d *Dataset) Read(i int, s *formats.Sample) error {
	it, err := d.sample(i)
	if err != nil {
		return err
	}
	if s == nil {
		return fmt.Errorf("%s: sample %d: there is nothing to read it into: the *formats.Sample is nil", d.in, i)
	}
	in := d.info(it)
	s.Key, s.Split, s.Source, s.Checksum = in.Key, in.Split, in.Source, in.Checksum
	s.SetColumns(in.Columns...)
	s.Resize(len(d.meta.Schema))
	v := &s.Values[d.meta.Schema.ImageIndex()]
	data, err := d.in.read(in.Source.Path, in.Size, in.Source.ModTime, v.Buffer())
	v.SetOwn(data)
	if err != nil {
		v.Data = nil // an incomplete image is no one's
		return fmt.Errorf("read %s: %w", in.Source.Path, err)
	}
	v.Encoding, v.DType = formats.Sniff(v.Data), ""
	v.SetShape()
	if description, ok := d.source.(*descriptionSource); ok {
		return description.read(d.in, it, s.Values)
	}
	labels := len(d.meta.Schema)
	if d.fields != nil {
		labels = d.firstField
	}
	d.setLabels(it, s.Values[1:labels])
	if d.fields != nil {
		return d.fields.read(it, v, s.Values[labels:])
	}
	return nil
}

func (d *Dataset) setLabels(it *sample, values []formats.Value) {
	for j, f := range d.meta.Schema[1 : 1+len(values)] {
		v := &values[j]
		switch f.Kind {
		case formats.Label:
			v.SetInt64(it.labels[j])
			continue
		case formats.Number:
			v.SetFloat32(math.Float32frombits(uint32(it.labels[j])))
			continue
		}
		setMultiHot(v, it.labels, len(f.Classes))
	}
}

// setMultiHot sets v to the multi-hot label of n classes of which those in list are set.
func setMultiHot(v *formats.Value, list []int64, n int) {
	clear(v.Alloc(n))
	for _, class := range list {
		v.Data[class] = 1
	}
	v.Encoding, v.DType = formats.Raw, formats.Uint8
	v.SetShape(n)
}

// Close implements formats.Dataset. No file is open between reads.
func (d *Dataset) Close() error { return d.gate.Close() }
