//go:build cgo

package hdf5

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/manifest"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/storage/value"
)

// Files in the staging folder. An extra field has two of its own, for its bytes and its index.
const (
	dataFile     = "images"
	skeletonFile = "skeleton"
)

// writer appends samples to files in the staging folder. After a failed write only Close and
// Resume work.
type writer struct {
	*staging.Single
	names map[int]string  // of extra fields, by position in the schema
	extra []int           // their positions, ascending
	files []*staging.File // images, then bytes and index of each extra field
	index []byte          // scratch
}

var _ formats.Writer = (*writer)(nil)

// Create implements formats.WritableFormat.
func (Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	return staging.CreateSingle(path, m, o, checkOurs, startWriter)
}

// Resume implements formats.WritableFormat.
func (Format) Resume(path string, _ formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return staging.ResumeSingle(path, checkOurs, startWriter)
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
	if err := w.openFiles(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *writer) fileNames() []string {
	names := []string{dataFile}
	for _, i := range w.extra {
		names = append(names, fmt.Sprintf("field%d.bytes", i), fmt.Sprintf("field%d.index", i))
	}
	return names
}

func (w *writer) openFiles() error {
	if w.State != nil {
		return w.reopenFiles()
	}
	for _, name := range w.fileNames() {
		f, err := staging.CreateFile(w.Path(name), name)
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
	if err := json.Unmarshal(w.State, &states); err != nil || len(states) != len(names) {
		return fmt.Errorf("resume %s: %w: the last checkpoint cannot be parsed", w.Path(dataFile), formats.ErrDamaged)
	}
	// A Commit that was killed may have written the header already.
	if err := clearHead(w.Path(dataFile)); err != nil {
		return err
	}
	for i, name := range names {
		f, err := staging.ReopenFile(w.Path(name), states[i])
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	}
	if err := w.checkStaged(); err != nil {
		return fmt.Errorf("resume %s: %w", w.Path(dataFile), err)
	}
	return nil
}

// checkStaged compares the journal's rows and the fields' indexes with the files, since the
// library would trust them.
func (w *writer) checkStaged() error {
	images, err := w.stagedImages()
	if err != nil {
		return err
	}
	if err := images.rows.check(w.Manifest.Len(), w.files[0].Size()-headSize); err != nil {
		return err
	}
	for k := range w.extra {
		index, err := os.ReadFile(w.files[2+2*k].Path())
		if err != nil {
			return err
		}
		r, err := parseIndex(index)
		if err != nil {
			return err
		}
		if err := r.check(w.Manifest.Len(), w.files[1+2*k].Size()); err != nil {
			return err
		}
	}
	return nil
}

func clearHead(path string) error {
	f, err := staging.OpenStaged(path)
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
	_, err := w.files[0].Write(s.Values[w.Meta.Schema.ImageIndex()].Data)
	for k, i := range w.extra {
		v := &s.Values[i]
		if err == nil {
			_, err = w.files[1+2*k].Write(v.Data)
		}
		if err == nil {
			w.index = appendIndex(w.index[:0], v)
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

// content gathers the content of the skeleton.
func (w *writer) content() (*content, error) {
	t := w.Manifest
	order, err := t.KeyOrder()
	if err != nil {
		return nil, err
	}
	var rows bytes.Buffer
	if err := t.WriteParquet(&rows, order); err != nil {
		return nil, err
	}
	w.Describe()
	meta, err := manifest.EncodeMeta(&w.Meta)
	if err != nil {
		return nil, err
	}
	c := &content{schema: w.Meta.Schema, rows: t, manifest: rows.Bytes(), meta: meta}
	if c.removed, err = w.EncodeRemoved(); err != nil {
		return nil, err
	}
	if c.images, err = w.stagedImages(); err != nil {
		return nil, err
	}
	for _, i := range w.extra {
		index, err := os.ReadFile(w.Path(fmt.Sprintf("field%d.index", i)))
		if err != nil {
			return nil, err
		}
		r, err := parseIndex(index)
		if err != nil {
			return nil, err
		}
		c.fields = append(c.fields, staged{name: w.names[i], source: w.Path(fmt.Sprintf("field%d.bytes", i)), rows: r})
	}
	return c, nil
}

func (w *writer) stagedImages() (staged, error) {
	t := w.Manifest
	r := newRows()
	field := &w.Meta.Schema[w.Meta.Schema.ImageIndex()]
	for i := range t.Len() {
		in, err := t.Info(i)
		if err != nil {
			return staged{}, err
		}
		r.add(in.Size, in.Encoding, imageType(field, &in), in.Shape[:])
	}
	return staged{name: imagesName, source: w.Path(dataFile), from: headSize, rows: r}, nil
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
		target, from, to = w.Path(dataFile), images.to, images.to+images.length
		holes := slices.Clone(spans)
		slices.SortFunc(holes, func(a, b span) int { return cmp.Compare(a.to, b.to) })
		spans = append(outside(skeleton, st.Size(), holes), spans[1:]...)
	}
	return target, assemble(target, st.Size(), spans, sums, from, to, p)
}

// verify opens the file with the reader and compares the result with the rows and with what the
// library reads.
func (w *writer) verify(path string) error {
	d, err := open(path, false)
	if err != nil {
		return err
	}
	if d.Len() != w.Manifest.Len() {
		err = fmt.Errorf("it has %d samples, but %d were written", d.Len(), w.Manifest.Len())
	}
	for i := 0; err == nil && i < d.Len(); i++ {
		_, err = d.image(i, nil)
	}
	if err == nil {
		err = compareWithLibrary(path, d.extents)
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
