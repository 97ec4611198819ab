package folder

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/fields"
	"github.com/dsconv/dsconv/formats/folder/internal/listing"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/extsort"
	"github.com/dsconv/dsconv/internal/lifetime"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// Dataset is a folder of images, on the disk or in an archive. It is safe for concurrent use.
type Dataset struct {
	in            *vfs.Watched
	gate          lifetime.Gate
	meta          formats.Meta
	records       *extsort.List
	source        source
	skips         []formats.Skip
	ignored       int
	columns       []LabelColumn
	notices       []string // how labels were found
	isList        bool
	frozen        bool     // see Freeze
	keepExtension []string // keys with their extension, because two files share a stem

	filter            *formats.FileFilter
	system            []SystemFolder
	empty             []string // folders without images
	unreadable        []string
	unmatched         formats.Patterns
	unusedDescription string // a description in the folder, if no table was given

	questions  listing.Questions
	fields     *fields.Set // nil without
	firstField int         // the position of its fields in the schema
}

// source gives the images of a folder their labels: a labeler or a descriptionSource.
type source interface {
	// includes reports whether the file is an image of a sample.
	includes(path string) bool
	// label sets what the sample at it.path has, or returns why it is skipped.
	label(it *sample) (why string)
	missing(in vfs.FS) []formats.Skip
	schema() formats.Schema
	userColumns() []string
}

var (
	_ formats.Dataset = (*Dataset)(nil)
	_ formats.Skipper = (*Dataset)(nil)
)

// UnusedDescription returns the path of the description of labels, splits and columns that dsconv
// unpack wrote into the folder, if no table was given; "" if there is none.
func (d *Dataset) UnusedDescription() string { return d.unusedDescription }

// LabelNotices says which sources are empty folders, and how labels were found where that is not evident: which file is for which folder, which of
// its columns were taken, what was left out of its paths.
func (d *Dataset) LabelNotices() []string { return d.notices }

func (d *Dataset) noImages() error {
	err := fmt.Errorf("%s: no image to read in this folder", d.in)
	if len(d.skips) > 0 {
		err = fmt.Errorf("%w (%d skipped, such as %.200s: %.300s)", err, len(d.skips), d.skips[0].Path, d.skips[0].Cause) // a list may have anything in a cell
	}
	if l, ok := d.source.(*labeler); ok {
		err = l.explainNone(err, d.skips)
	}
	if patterns := d.unmatched.String(); patterns != "" {
		err = fmt.Errorf("%w; nothing matches %s", err, patterns)
	}
	if root, ok := vfs.RootOnDisk(d.in); ok {
		err = fmt.Errorf("%w%s", err, cmp.Or(sharded.SuggestDatasets(root), suggestArchives(root), suggestOthers(root)))
	} else if advice := adviceOn(d.in.String()); advice != "" {
		err = fmt.Errorf("%w; %s", err, advice)
	}
	return err
}

// Meta describes the folder.
func (d *Dataset) Meta() *formats.Meta { return &d.meta }

// Len returns the number of images.
func (d *Dataset) Len() int { return d.records.Len() }

// Root returns the folder that the samples' Source.Path is relative to: for a list of images, the deepest one that
// has all of them.
func (d *Dataset) Root() string { return d.in.String() }

// IsList reports whether the images are those of a list: see OpenList.
func (d *Dataset) IsList() bool { return d.isList }

// Skips returns the inputs that are not part of the dataset, by path.
func (d *Dataset) Skips() []formats.Skip { return d.skips }

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
	err := d.records.Read(i, it)
	if err == nil {
		d.fields.Locate(&it.File)
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
	return infoOf(&d.meta, it), nil
}

// infoOf returns what is known of a sample of the dataset m without its file.
func infoOf(m *formats.Meta, it *sample) formats.Info {
	in := formats.Info{
		Key: it.key, Split: it.split, Label: formats.NoLabel, Size: it.Size, Columns: it.columns,
		Source: formats.Source{Path: it.Path, Size: it.Size, ModTime: it.ModTime},
	}
	if l := m.Schema.LabelIndex(); l >= 0 && m.Schema[l].Kind == formats.Label {
		in.Label = it.labels[0]
	}
	return in
}

// begin sets what s has besides values.
func begin(s *formats.Sample, m *formats.Meta, of *formats.Info) {
	s.Key, s.Split, s.Source, s.Checksum = of.Key, of.Split, of.Source, of.Checksum
	s.SetColumns(of.Columns...)
	s.Resize(len(m.Schema))
}

// LabelSum returns the label of sample i, whose Info is in, if it has only one, else a checksum of all its labels.
func (d *Dataset) LabelSum(i int, in *formats.Info) int64 {
	_, described := d.source.(*descriptionSource)
	if !described && len(d.columns) == 1 && d.meta.Schema[1].Kind == formats.Label {
		return in.Label
	}
	it, err := d.sample(i)
	if err != nil {
		return 0
	}
	h := fnv.New64a()
	if described {
		_, _ = fmt.Fprintf(h, "%q", it.row) // writing to a hash never fails
	} else {
		_ = binary.Write(h, binary.LittleEndian, it.labels)
	}
	return int64(h.Sum64())
}

// Read reads the file of sample i. Its encoding follows from its first bytes and is "" if
// it is not an image; its shape is unknown. The error is formats.ErrChanged, which ends a run, if the file is missing since
// the folder is: it was moved or unmounted.
func (d *Dataset) Read(i int, s *formats.Sample) error {
	it, err := d.sample(i)
	if err != nil {
		return err
	}
	in := infoOf(&d.meta, it)
	begin(s, &d.meta, &in)
	err = d.readValues(it, &in.Source, s.Values)
	switch {
	case d.frozen:
		err = frozen(err)
	case durable.IsMissing(err):
		if gone := d.in.Gone(it.Path); gone != nil {
			return changedError{fmt.Errorf("%w: %w", err, gone)}
		}
		err = d.readValues(it, &in.Source, s.Values) // it may have been away with its disk for a moment
	}
	return err
}

func (d *Dataset) readValues(it *sample, file *formats.Source, values []formats.Value) error {
	v := &values[d.meta.Schema.ImageIndex()]
	if err := readImage(d.in, file, v); err != nil {
		return err
	}
	return d.readRest(it, v, values)
}

// readImage reads the file of an image into v. Its encoding follows from its first bytes.
func readImage(in vfs.FS, file *formats.Source, v *formats.Value) error {
	data, err := in.Read(file.Path, file.Size, file.ModTime, v.Buffer())
	v.SetOwn(data)
	if err != nil {
		v.Data = nil // an incomplete image is no one's
		return fmt.Errorf("read %s: %w", file.Path, err)
	}
	v.Encoding, v.DType = formats.Sniff(v.Data), ""
	v.SetShape()
	return nil
}

// readRest reads the values besides the image, which is v.
func (d *Dataset) readRest(it *sample, v *formats.Value, values []formats.Value) error {
	if description, ok := d.source.(*descriptionSource); ok {
		return description.read(d.in, it, values)
	}
	labels := len(d.meta.Schema)
	if d.fields != nil {
		labels = d.firstField
	}
	setLabels(d.meta.Schema[1:labels], it.labels, values[1:labels])
	if d.fields != nil {
		return d.fields.Read(&it.File, v, values[labels:])
	}
	return nil
}

// setLabels sets the values of label fields.
func setLabels(fields formats.Schema, labels []int64, values []formats.Value) {
	for j, f := range fields {
		v := &values[j]
		switch f.Kind {
		case formats.Label:
			v.SetInt64(labels[j])
		case formats.Number:
			v.SetFloat32(math.Float32frombits(uint32(labels[j])))
		default:
			setMultiHot(v, labels, len(f.Classes))
		}
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
