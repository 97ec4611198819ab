package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/lifetime"
)

// Listed is what the listing of a folder has about an image: all that a process needs to read it as a sample without
// listing the folder again.
type Listed struct {
	Key     string   `json:"key"`
	Path    string   `json:"path"` // relative to the folder
	Size    int64    `json:"size"`
	ModTime int64    `json:"time"` // ns
	Split   string   `json:"split,omitempty"`
	Labels  []int64  `json:"labels,omitempty"` // as the schema's label fields mean them: a class, the set classes, or the bits of a number
	Columns []string `json:"columns,omitempty"`
}

// ListedRoot returns the folder of the disk whose images Listed describes completely. ok is false if samples need more
// than their listing: fields, a description by dsconv unpack, an archive, several sources.
func (d *Dataset) ListedRoot() (root string, ok bool) {
	if _, ok := d.source.(*labeler); !ok || d.fields != nil {
		return "", false
	}
	return vfs.RootOnDisk(d.in)
}

// Listed returns what the listing has about sample i.
func (d *Dataset) Listed(i int) (Listed, error) {
	it, err := d.sample(i)
	if err != nil {
		return Listed{}, err
	}
	return Listed{Key: it.key, Path: it.Path, Size: it.Size, ModTime: it.ModTime, Split: it.split, Labels: it.labels, Columns: it.columns}, nil
}

// ListedDataset has images that were listed before, in the order of their keys.
type ListedDataset struct {
	in   vfs.FS
	meta formats.Meta
	rows []Listed
	gate lifetime.Gate
}

// OpenListed opens images of the folder at root by their listing, which has them in the order of their keys. m describes
// the whole folder. Read returns formats.ErrChanged, which ends a run, for a file that is missing or has another
// size than was listed.
func OpenListed(root string, m formats.Meta, rows []Listed) (*ListedDataset, error) {
	if err := formats.CheckPath(root); err != nil {
		return nil, err
	}
	if err := m.Schema.Validate(); err != nil {
		return nil, err
	}
	labels := m.Schema[1:]
	for i, r := range rows {
		switch {
		case i > 0 && r.Key <= rows[i-1].Key:
			return nil, fmt.Errorf("%w: the listing has %q after %q: its keys must ascend", formats.ErrKey, r.Key, rows[i-1].Key)
		case !fs.ValidPath(r.Path):
			return nil, fmt.Errorf("%w: the listing has the path %q, which is not inside the folder", formats.ErrDamaged, r.Path)
		case len(r.Columns) != len(m.Columns) || !validLabels(labels, r.Labels):
			return nil, fmt.Errorf("%w: the listing of %s does not fit to the schema", formats.ErrSchema, r.Path)
		}
	}
	d := &ListedDataset{in: vfs.OnDisk(root), meta: m, rows: rows}
	d.gate.Open(root, func() error { return nil })
	return d, nil
}

// validLabels reports whether setLabels can set the labels of those fields.
func validLabels(fields formats.Schema, labels []int64) bool {
	if len(fields) == 1 && fields[0].Kind == formats.MultiHot {
		return !slices.ContainsFunc(labels, func(class int64) bool { return class < 0 || class >= int64(len(fields[0].Classes)) })
	}
	return len(fields) == len(labels)
}

// Meta describes the folder.
func (d *ListedDataset) Meta() *formats.Meta { return &d.meta }

// Len returns the number of images.
func (d *ListedDataset) Len() int { return len(d.rows) }

// Info returns what the listing has about sample i.
func (d *ListedDataset) Info(i int) (formats.Info, error) {
	if err := d.gate.Enter(i); err != nil {
		return formats.Info{}, err
	}
	defer d.gate.Leave(i)
	if i < 0 || i >= len(d.rows) {
		return formats.Info{}, fmt.Errorf("%s: index %d out of range: the listing has %d samples", d.in, i, len(d.rows))
	}
	r := &d.rows[i]
	return infoOf(&d.meta, &sample{
		File: vfs.File{Path: r.Path, Size: r.Size, ModTime: r.ModTime}, key: r.Key, split: r.Split, labels: r.Labels, columns: r.Columns,
	}), nil
}

// Read reads the file of sample i, as Dataset.Read does.
func (d *ListedDataset) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	begin(s, &d.meta, &in)
	v := &s.Values[d.meta.Schema.ImageIndex()]
	of := in.Source
	err = readImage(d.in, &of, v)
	if errors.Is(err, vfs.ErrChanged) { // if only its time is another one, it was copied or touched
		var st fs.FileInfo
		if st, err = d.in.Stat(of.Path); err == nil {
			of.ModTime = vfs.ModTime(st)
			err = readImage(d.in, &of, v)
		}
	}
	if err != nil {
		return frozen(err)
	}
	setLabels(d.meta.Schema[1:], d.rows[i].Labels, s.Values[1:])
	return nil
}

// Close implements formats.Dataset. No file is open between reads.
func (d *ListedDataset) Close() error { return d.gate.Close() }

// Freeze makes Read treat a file that is missing, or is not the one that was listed, as formats.ErrChanged, which ends a
// run: where several processes pack parts of one plan, all must see the same files. Without it such an image is a bad one.
func (d *Dataset) Freeze() { d.frozen = true }

// frozen makes an error about a file that changed or is missing one that ends the run.
func frozen(err error) error {
	if errors.Is(err, vfs.ErrChanged) || durable.IsMissing(err) {
		return changedError{fmt.Errorf("%w: the plan no longer describes the source; restore the file, or make a new plan", err)}
	}
	return err
}

// changedError is a formats.ErrChanged; its text is the error's own.
type changedError struct{ error }

func (e changedError) Unwrap() error { return e.error }

func (changedError) Is(target error) bool { return target == formats.ErrChanged }
