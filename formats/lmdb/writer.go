//go:build cgo

package lmdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/formats/atrest"
)

// stagedName is the folder in the stage that becomes the dataset.
const stagedName = "dataset"

type writer struct {
	path    string
	stage   *atrest.Stage
	further []int // places in the schema
	images  *store
	fields  *store // nil without further fields
	failed  error  // a transaction that was lost: only Close and Resume are left
	open    bool
}

var _ formats.Writer = (*writer)(nil)

// state is what a checkpoint keeps.
type state struct {
	Images snapshot  `json:"images"`
	Fields *snapshot `json:"fields,omitempty"`
}

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
	if _, _, err := atrest.ReadSidecar(path); err != nil {
		return nil, fmt.Errorf("%s: %w, and not by dsconv: %w", path, formats.ErrExists, err)
	}
	return []string{path}, nil
}

// start opens the environments as of the stage's last checkpoint.
func start(path string, stage *atrest.Stage) (*writer, error) {
	w := &writer{path: path, stage: stage, further: furtherFields(stage.Meta.Schema), open: true}
	if err := w.openStores(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *writer) openStores() (err error) {
	var names []string
	for _, i := range w.further {
		names = append(names, w.stage.Meta.Schema[i].Name)
	}
	dir := w.stage.Path(stagedName)
	fields := filepath.Join(dir, fieldsName)
	if w.stage.State == nil {
		if w.images, err = createStore(dir, nil); err == nil && len(names) > 0 {
			w.fields, err = createStore(fields, names)
		}
		return err
	}
	var st state
	if err := json.Unmarshal(w.stage.State, &st); err != nil || (st.Fields != nil) != (len(names) > 0) {
		return fmt.Errorf("continue %s: %w: the last checkpoint does not parse", w.path, formats.ErrDamaged)
	}
	if w.images, err = reopenStore(dir, nil, st.Images); err == nil && st.Fields != nil {
		w.fields, err = reopenStore(fields, names, *st.Fields)
	}
	return err
}

func (w *writer) stores() []*store {
	if w.fields == nil {
		return []*store{w.images}
	}
	return []*store{w.images, w.fields}
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
	image := &s.Values[w.stage.Meta.Schema.ImageIndex()]
	w.images.put(0, s.Key, func(b []byte) []byte { return appendValue(b, image, true) })
	for db, i := range w.further {
		w.fields.put(db, s.Key, func(b []byte) []byte { return appendValue(b, &s.Values[i], false) })
	}
	for _, st := range w.stores() {
		if st.full() {
			w.failed = errors.Join(w.failed, st.flush())
		}
	}
	return w.failed
}

func (w *writer) check(s *formats.Sample) error {
	if err := w.stage.CheckSample(s, true); err != nil {
		return err
	}
	schema := w.stage.Meta.Schema
	image := schema.ImageIndex()
	err := checkValue(&schema[image], &s.Values[image], true)
	for _, i := range w.further {
		err = errors.Join(err, checkValue(&schema[i], &s.Values[i], false))
	}
	if err != nil {
		return fmt.Errorf("key %q: %w", s.Key, err)
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
	var snapshots []snapshot
	for _, s := range w.stores() {
		if err := s.sync(); err != nil {
			return err
		}
		snap, err := takeSnapshot(s.data())
		if err != nil {
			return err
		}
		snapshots = append(snapshots, snap)
	}
	st := state{Images: snapshots[0]}
	if w.fields != nil {
		st.Fields = &snapshots[1]
	}
	b, err := json.Marshal(st)
	if err != nil {
		return err
	}
	if err := w.stage.Checkpoint(b, note); err != nil {
		return err
	}
	// Only now: until the checkpoint is on the disk, the one before must stay whole.
	for _, s := range w.stores() {
		if err := s.reopen(); err != nil {
			return err
		}
	}
	return nil
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
	dir := w.stage.Path(stagedName)
	names := []string{dataName, fieldsName + "/" + dataName}
	var sums atrest.Sums
	for i, s := range w.stores() {
		sum, err := s.finish(names[i])
		if err != nil {
			return err
		}
		sums = append(sums, sum)
	}
	if w.fields != nil {
		if err := syncDir(w.fields.dir); err != nil {
			return err
		}
	}
	if err := w.stage.WriteSidecar(dir, "", sums, nil); err != nil {
		return err
	}
	w.open = false
	return w.stage.Publish(old, []atrest.Move{{From: dir, To: w.path}})
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Close implements formats.Writer.
func (w *writer) Close() error {
	if !w.open {
		return nil
	}
	w.open = false
	var err error
	for _, s := range []*store{w.images, w.fields} {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return errors.Join(err, w.stage.Close())
}
