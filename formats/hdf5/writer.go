//go:build cgo

package hdf5

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// Files in the stage. A further field has its bytes and its index in two of its own.
const (
	dataFile     = "images"
	skeletonFile = "skeleton"
)

type writer struct {
	path    string
	stage   *atrest.Stage
	names   map[int]string // of further fields, by place in the schema
	further []int          // their places, ascending
	files   []*atrest.File // images, then bytes and index of each further field
	index   []byte         // scratch
	failed  error          // bytes that were lost: only Close and Resume are left
	open    bool
}

var _ formats.Writer = (*writer)(nil)

func create(path string, m formats.Meta, o formats.CreateOptions) (*writer, error) {
	if _, err := existing(path); err != nil {
		return nil, err
	}
	stage, err := atrest.CreateStage(path, path, m, o.Replace)
	if err != nil {
		return nil, err
	}
	return start(path, stage)
}

func resume(path string) (formats.Writer, formats.Meta, []byte, error) {
	stage, err := atrest.ResumeStage(path)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	w, err := start(path, stage)
	if err != nil {
		return nil, formats.Meta{}, nil, err
	}
	return w, stage.Meta, stage.Note, nil
}

// existing lists what a dataset at path would replace; an error if dsconv did not write it.
func existing(path string) ([]string, error) {
	if _, err := os.Lstat(path); err != nil {
		return nil, nil //nolint:nilerr // nothing is there, or making it says what is wrong
	}
	m, err := atrest.Map(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w, and not by dsconv: %w", path, formats.ErrExists, err)
	}
	_, err = parseFooter(m.Data)
	if err = errors.Join(err, m.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w, and not by dsconv: %w", path, formats.ErrExists, err)
	}
	return []string{path}, nil
}

// start opens the staged files as of the stage's last checkpoint.
func start(path string, stage *atrest.Stage) (*writer, error) {
	w := &writer{path: path, stage: stage, names: fieldNames(stage.Meta.Schema), open: true}
	for i := range stage.Meta.Schema {
		if w.names[i] != "" {
			w.further = append(w.further, i)
		}
	}
	if err := w.openFiles(); err != nil {
		return nil, errors.Join(fmt.Errorf("continue %s: %w", path, err), w.Close())
	}
	return w, nil
}

func (w *writer) fileNames() []string {
	names := []string{dataFile}
	for _, i := range w.further {
		names = append(names, fmt.Sprintf("field%d.bytes", i), fmt.Sprintf("field%d.index", i))
	}
	return names
}

func (w *writer) openFiles() error {
	if w.stage.State != nil {
		return w.reopenFiles()
	}
	for _, name := range w.fileNames() {
		f, err := atrest.CreateFile(w.stage.Path(name), name)
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	}
	_, err := w.files[0].Write(make([]byte, headSize))
	return err
}

func (w *writer) reopenFiles() error {
	var states []atrest.FileState
	names := w.fileNames()
	if err := json.Unmarshal(w.stage.State, &states); err != nil || len(states) != len(names) {
		return fmt.Errorf("%w: the last checkpoint does not parse", formats.ErrDamaged)
	}
	// A Commit that was killed may have written its header already.
	if err := clearHead(w.stage.Path(dataFile)); err != nil {
		return err
	}
	for i, name := range names {
		f, err := atrest.ReopenFile(w.stage.Path(name), states[i])
		if err != nil {
			return err
		}
		w.files = append(w.files, f)
	}
	return nil
}

func clearHead(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, headSize), 0)
	return errors.Join(err, f.Close())
}

// Write implements formats.Writer.
func (w *writer) Write(s *formats.Sample) error {
	if w.failed != nil {
		return w.failed
	}
	if err := w.check(s); err != nil {
		return err
	}
	if err := w.stage.Add(s, atrest.Place{}); err != nil {
		return err
	}
	if err := w.append(s); err != nil {
		w.failed = fmt.Errorf("key %q: %w", s.Key, err)
	}
	return w.failed
}

func (w *writer) check(s *formats.Sample) error {
	if err := w.stage.CheckSample(s, true); err != nil {
		return err
	}
	i := w.stage.Meta.Schema.ImageIndex()
	v, f := &s.Values[i], &w.stage.Meta.Schema[i]
	if v.Encoding == formats.RawZstd && f.DType == "" && atrest.FrameType(v.Shape, v.Data) != v.DType {
		return fmt.Errorf("key %q: %w: field %s: the zstd frame does not tell how many bytes of %s it holds", s.Key, formats.ErrSchema, f.Name, v.DType)
	}
	return nil
}

func (w *writer) append(s *formats.Sample) error {
	if _, err := w.files[0].Write(s.Values[w.stage.Meta.Schema.ImageIndex()].Data); err != nil {
		return err
	}
	for k, i := range w.further {
		v := &s.Values[i]
		if _, err := w.files[1+2*k].Write(v.Data); err != nil {
			return err
		}
		w.index = appendIndex(w.index[:0], v)
		if _, err := w.files[2+2*k].Write(w.index); err != nil {
			return err
		}
	}
	return nil
}

// Checkpoint implements formats.Writer.
func (w *writer) Checkpoint(note []byte) error {
	if w.failed != nil {
		return w.failed
	}
	w.failed = w.checkpoint(note)
	return w.failed
}

func (w *writer) checkpoint(note []byte) error {
	states := make([]atrest.FileState, len(w.files))
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
	return w.stage.Checkpoint(b, note)
}

// Commit implements formats.Writer.
func (w *writer) Commit() error {
	if w.failed != nil {
		return w.failed
	}
	w.failed = w.commit()
	return w.failed
}

func (w *writer) commit() error {
	old, err := existing(w.path)
	if err != nil {
		return err
	}
	sums := w.files[0].Sums()
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
	target, err := w.make(c, sums)
	if err != nil {
		return err
	}
	if err := w.verify(target); err != nil {
		return fmt.Errorf("read back what was written: %w", err)
	}
	w.open = false
	return w.stage.Publish(old, []atrest.Move{{From: target, To: w.path}})
}

// content gathers what the skeleton is made of.
func (w *writer) content() (*content, error) {
	t := w.stage.Table
	ranks, err := t.Ranks()
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	if err := t.WriteManifest(&manifest, ranks); err != nil {
		return nil, err
	}
	t.Describe(&w.stage.Meta)
	meta, err := atrest.EncodeMeta(&w.stage.Meta)
	if err != nil {
		return nil, err
	}
	c := &content{schema: w.stage.Meta.Schema, table: t, manifest: manifest.Bytes(), meta: meta}
	if c.images, err = w.stagedImages(); err != nil {
		return nil, err
	}
	for _, i := range w.further {
		index, err := os.ReadFile(w.stage.Path(fmt.Sprintf("field%d.index", i)))
		if err != nil {
			return nil, err
		}
		r, err := parseIndex(index)
		if err != nil {
			return nil, err
		}
		c.fields = append(c.fields, staged{name: w.names[i], source: w.stage.Path(fmt.Sprintf("field%d.bytes", i)), rows: r})
	}
	return c, nil
}

func (w *writer) stagedImages() (staged, error) {
	t := w.stage.Table
	r := newRows()
	field := &w.stage.Meta.Schema[w.stage.Meta.Schema.ImageIndex()]
	for i := range t.Len() {
		in, err := t.Info(i)
		if err != nil {
			return staged{}, err
		}
		r.add(in.Size, in.Encoding, imageType(field, &in), in.Shape[:])
	}
	return staged{name: imagesName, source: w.stage.Path(dataFile), from: headSize, rows: r}, nil
}

// imageType is the element type of a raw image, "" of others.
func imageType(f *formats.Field, in *formats.Info) formats.DType {
	switch {
	case in.Encoding != formats.Raw:
		return ""
	case f.DType != "":
		return f.DType
	}
	return atrest.ElementType(in.Shape[:], uint64(in.Size))
}

// make builds the file and gives its path in the stage. Images that HDF5 wants where they
// are already stay in their file, which becomes the HDF5 file; a few bytes of images, which
// HDF5 does not align, are copied into the skeleton.
func (w *writer) make(c *content, sums atrest.FileSums) (string, error) {
	skeleton := w.stage.Path(skeletonFile)
	regions, err := buildSkeleton(skeleton, c)
	if err != nil {
		return "", err
	}
	st, err := os.Stat(skeleton)
	if err != nil {
		return "", err
	}
	var spans []span
	for _, r := range regions {
		spans = append(spans, span{source: r.source, from: r.from, to: r.to, length: r.length})
	}
	target, from, to := skeleton, int64(0), int64(0)
	if images := regions[0]; images.to == headSize && images.length > 0 {
		target, from, to = w.stage.Path(dataFile), images.to, images.to+images.length
		holes := slices.Clone(spans)
		slices.SortFunc(holes, func(a, b span) int { return cmp.Compare(a.to, b.to) })
		spans = append(around(skeleton, st.Size(), holes), spans[1:]...)
	}
	return target, assemble(target, st.Size(), spans, sums, from, to)
}

// verify opens the file as a reader does and compares what it finds with the rows.
func (w *writer) verify(path string) error {
	d, err := open(path)
	if err != nil {
		return err
	}
	if d.Len() != w.stage.Table.Len() {
		err = fmt.Errorf("%d samples of %d", d.Len(), w.stage.Table.Len())
	}
	for i := 0; err == nil && i < d.Len(); i++ {
		_, err = d.image(i, nil)
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
	if !w.open {
		return nil
	}
	w.open = false
	return errors.Join(w.closeFiles(), w.stage.Close())
}
