//go:build cgo

package hdf5

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/storage/value"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// Files in the staging folder. An extra field has two of its own, for its bytes and its index.
const (
	dataFile     = "images"
	skeletonFile = "skeleton"
	entriesFile  = "index" // of an extra field
)

// writer appends samples to files in the staging folder. After a failed write only Close and
// Resume work.
type writer struct {
	*staging.Single
	names map[int]string  // of extra fields, by position in the schema
	extra []int           // their positions, ascending
	files []*staging.File // images, then bytes and index of each extra field
	index []byte          // scratch

	summaries []summary // of the images, then of each extra field
}

var _ formats.Writer = (*writer)(nil)

// Create implements formats.WritableFormat.
func (Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	return staging.CreateSingle(path, m, o, checkOurs, startWriter)
}

// Resume implements formats.WritableFormat.
func (Format) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return staging.ResumeSingle(path, o, checkOurs, startWriter)
}

// checkOurs reports why the file at path is not dsconv's. A damaged one may be replaced.
func checkOurs(path string) error {
	m, err := mapped.Map(path)
	if err != nil {
		return err
	}
	err = guard.Do(func() error {
		if !hasTrailer(m.Data) {
			return explainNoFooter(m.Data)
		}
		return nil
	})
	return errors.Join(err, m.Close())
}

// startWriter opens the staged files as of the last checkpoint.
func startWriter(single *staging.Single) (formats.Writer, error) {
	w := &writer{Single: single, names: fieldNames(single.Meta.Schema)}
	w.extra = slices.Sorted(maps.Keys(w.names))
	w.summaries = make([]summary, 1+len(w.extra))
	if err := w.openFiles(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *writer) fileNames() []string {
	names := []string{dataFile}
	for _, i := range w.extra {
		names = append(names, fieldFile(i)+bytesName, fieldFile(i)+entriesFile)
	}
	return names
}

// fieldFile begins the names of the files of the extra field at position i of the schema.
func fieldFile(i int) string { return fmt.Sprintf("field%d.", i) }

func (w *writer) openFiles() error {
	if w.State != nil {
		return w.reopenFiles()
	}
	for _, name := range w.fileNames() {
		f, err := w.CreateFile(name)
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	}
	_, err := w.files[0].Write(make([]byte, headSize))
	return err
}

func (w *writer) reopenFiles() error {
	var states []staging.FileState
	names := w.fileNames()
	if err := json.Unmarshal(w.State, &states); err != nil || len(states) != len(names) || slices.ContainsFunc(states, func(st staging.FileState) bool { return !slices.Contains(names, st.Name) }) {
		return fmt.Errorf("resume %s: %w: the last checkpoint cannot be parsed", w.Path(dataFile), formats.ErrDamaged)
	}
	// A Commit that was killed may have written the header already.
	if err := w.clearHead(); err != nil {
		return err
	}
	for i := range names {
		f, err := w.ReopenFile(states[i])
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	}
	if err := w.summarize(); err != nil {
		return fmt.Errorf("resume %s: %w", w.Path(dataFile), err)
	}
	return nil
}

// summarize summarizes the samples of the journal.
func (w *writer) summarize() error {
	err := w.EachRow(func(r *sampleindex.Row) error {
		w.summaries[0].add(imageEntry(w.image(), &r.Info))
		return nil
	})
	for k, i := range w.extra {
		if err == nil {
			err = w.entries(i, func(e entry) error { w.summaries[1+k].add(e); return nil })
		}
	}
	return err
}

// image returns the field of the designated image.
func (w *writer) image() *formats.Field { return &w.Meta.Schema[w.Meta.Schema.ImageIndex()] }

// entries calls do with each staged entry of the extra field at position i of the schema.
func (w *writer) entries(i int, do func(e entry) error) error {
	f, err := unblocked.Open(w.Path(fieldFile(i) + entriesFile))
	if err != nil {
		return err
	}
	return errors.Join(readEntries(bufio.NewReader(f), do), f.Close())
}

func (w *writer) clearHead() error {
	f, err := w.Open(dataFile)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, headSize), 0)
	return errors.Join(err, f.Close())
}

// Write implements formats.Writer.
func (w *writer) Write(s *formats.Sample) error { return w.Put(s, w.check, w.append) }

func (w *writer) check(s *formats.Sample) error {
	image := w.Meta.Schema.ImageIndex()
	return value.CheckFrame(&w.Meta.Schema[image], &s.Values[image])
}

// append writes the values to their files.
func (w *writer) append(s *formats.Sample) error {
	image := &s.Values[w.Meta.Schema.ImageIndex()]
	in := formats.Info{Size: int64(len(image.Data)), Encoding: image.Encoding}
	if len(image.Shape) == len(in.Shape) {
		in.Shape = [3]int(image.Shape)
	}
	w.summaries[0].add(imageEntry(w.image(), &in))
	_, err := w.files[0].Write(image.Data)
	for k, i := range w.extra {
		v := &s.Values[i]
		e := newEntry(int64(len(v.Data)), v.Encoding, v.DType, v.Shape)
		w.summaries[1+k].add(e)
		if err == nil {
			_, err = w.files[1+2*k].Write(v.Data)
		}
		if err == nil {
			w.index = appendEntry(w.index[:0], e)
			_, err = w.files[2+2*k].Write(w.index)
		}
	}
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
	}
	return nil
}

// Checkpoint implements formats.Writer.
func (w *writer) Checkpoint(note []byte) error {
	return w.Do(func() error { return w.checkpoint(note) })
}

func (w *writer) checkpoint(note []byte) error {
	states := make([]staging.FileState, len(w.files))
	for i, f := range w.files {
		if err := f.Sync(); err != nil {
			return err
		}
		states[i] = f.State()
	}
	b, err := json.Marshal(states)
	if err != nil {
		return err
	}
	return w.Single.Checkpoint(b, note)
}

// Commit implements formats.Writer.
func (w *writer) Commit() error { return w.Do(w.commit) }

func (w *writer) commit() error {
	sums := w.files[0].Checksums()
	for _, f := range w.files {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := w.closeFiles(); err != nil {
		return err
	}
	c, err := w.content()
	if err != nil {
		return err
	}
	target, err := w.build(c, sums)
	if err != nil {
		return err
	}
	if err := w.verify(target); err != nil {
		return fmt.Errorf("verify the finished file: %w", err)
	}
	return w.Finish(target)
}

// content writes the tables of the skeleton's holes.
func (w *writer) content() (*content, error) {
	images := &w.summaries[0]
	c := &content{
		images: images.hole(imagesName, bytesName, w.Path(dataFile), headSize),
		count:  images.n,
		keys: func(do func(key string) error) error {
			return w.EachRow(func(r *sampleindex.Row) error { return do(r.Key) })
		},
	}
	if i := w.Meta.Schema.LabelIndex(); i >= 0 {
		c.classes = w.Meta.Schema[i].Classes
	}
	var err error
	if c.bounds, err = w.sampleTables(); err != nil {
		return nil, err
	}
	for k := range w.extra {
		holes, err := w.fieldTables(k)
		if err != nil {
			return nil, err
		}
		c.rest = append(c.rest, holes...)
	}
	holes, err := w.descriptionTables()
	if err != nil {
		return nil, err
	}
	last := len(holes) - 1
	c.rest, c.index = append(c.rest, holes[:last]...), holes[last]
	return c, nil
}

// build builds the file and returns its path in the staging folder. If HDF5 places the images at
// the offset that they have in their file, that file becomes the HDF5 file. Otherwise the images,
// which are then so few bytes that HDF5 does not align them, are copied into the skeleton.
func (w *writer) build(c *content, sums checksum.FileChecksums) (string, error) {
	skeleton := w.Path(skeletonFile)
	spans, p, err := buildSkeleton(skeleton, c)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(skeleton)
	if err != nil {
		return "", err
	}
	target, from, to := skeleton, int64(0), int64(0)
	if images := spans[0]; images.to == headSize && images.length > 0 {
		target, from, to = images.source, images.to, images.to+images.length
		holes := slices.Clone(spans)
		slices.SortFunc(holes, func(a, b span) int { return cmp.Compare(a.to, b.to) })
		spans = append(outside(skeleton, st.Size(), holes), spans[1:]...)
	}
	return target, assemble(target, st.Size(), spans, sums, from, to, p)
}

// verify opens the file with the reader and compares what is there twice, also with what the library
// reads.
func (w *writer) verify(path string) error {
	d, err := open(path, false)
	if err != nil {
		return err
	}
	if d.Len() != w.Len() {
		err = fmt.Errorf("it has %d samples, but %d were written", d.Len(), w.Len())
	}
	if err == nil {
		var damage error
		err = d.CheckQuick(context.Background(), func(x formats.Damage) { damage = errors.Join(damage, errors.New(x.Cause)) })
		err = errors.Join(err, damage)
	}
	if err == nil {
		err = compareWithLibrary(path, d.in.extents)
	}
	return errors.Join(err, d.Close())
}

func (w *writer) closeFiles() error {
	var err error
	for _, f := range w.files {
		err = errors.Join(err, f.Close())
	}
	w.files = nil
	return err
}

// Close implements formats.Writer.
func (w *writer) Close() error {
	return errors.Join(w.closeFiles(), w.Single.Close())
}
