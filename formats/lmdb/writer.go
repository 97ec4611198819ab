//go:build cgo

package lmdb

import (
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/durable"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/storage/value"
	"github.com/dsconv/dsconv/internal/wire"
)

// stagedName is the folder in the staging folder that becomes the dataset.
const stagedName = "dataset"

// writer adds samples to the environments. After a failed transaction only Close and Resume work.
type writer struct {
	*staging.Single
	extra  []int // positions in the schema
	images *store
	fields *store             // nil without extra fields
	reused checksum.Checksums // of the old environments, if they are reused
	stored []byte             // reused
}

var (
	_ formats.Writer = (*writer)(nil)
	_ formats.Saver  = (*writer)(nil)
)

// state is the format's state in a checkpoint.
type state struct {
	Images snapshot  `json:"images"`
	Fields *snapshot `json:"fields,omitempty"`
}

// Create implements formats.WritableFormat.
func (Format) Create(path string, m formats.Meta, o formats.CreateOptions) (formats.Writer, error) {
	return staging.CreateSingle(path, m, o, checkOurs, startWriter)
}

// Resume implements formats.WritableFormat.
func (Format) Resume(path string, o formats.CreateOptions) (formats.Writer, formats.Meta, []byte, error) {
	return staging.ResumeSingle(path, o, checkOurs, startWriter)
}

// checkOurs reports why the file or folder at path is not dsconv's.
func checkOurs(path string) error {
	_, _, err := sidecar.Read(path)
	return err
}

// startWriter opens the environments as of the last checkpoint.
func startWriter(single *staging.Single) (formats.Writer, error) {
	w := &writer{Single: single, extra: extraFields(single.Meta.Schema)}
	if err := w.openStores(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	if err := w.ReadSaved(); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

func (w *writer) openStores() (err error) {
	names := fieldNames(w.Meta.Schema, w.extra)
	fields := path.Join(stagedName, fieldsName)
	if w.State == nil {
		if w.images, err = createStore(w.Stage, stagedName, nil); err == nil && len(names) > 0 {
			w.fields, err = createStore(w.Stage, fields, names)
		}
		return err
	}
	var st state
	if err := json.Unmarshal(w.State, &st); err != nil || (st.Fields != nil) != (len(names) > 0) {
		return fmt.Errorf("resume %s: %w: the last checkpoint cannot be parsed", w.Path(stagedName), formats.ErrDamaged)
	}
	if w.images, err = reopenStore(w.Stage, stagedName, nil, st.Images); err == nil && st.Fields != nil {
		w.fields, err = reopenStore(w.Stage, fields, names, *st.Fields)
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
func (w *writer) Write(s *formats.Sample) error { return w.Put(s, w.check, w.put) }

func (w *writer) check(s *formats.Sample) error {
	if w.reused != nil {
		return errors.New("the old environment is reused, so no sample can be written to it")
	}
	schema := w.Meta.Schema
	image := schema.ImageIndex()
	err := value.CheckFrame(&schema[image], &s.Values[image])
	for _, i := range w.extra {
		err = errors.Join(err, checkField(&schema[i], &s.Values[i]))
	}
	return err
}

// put gathers the values and starts a transaction once there are enough.
func (w *writer) put(s *formats.Sample) error {
	if w.SavesOnly() {
		return w.SaveValues(s.Key, func(b []byte) []byte { return w.appendStored(b, s) })
	}
	image := &s.Values[w.Meta.Schema.ImageIndex()]
	w.images.put(0, s.Key, func(b []byte) []byte { return appendValue(b, image, true) })
	for db, i := range w.extra {
		w.fields.put(db, s.Key, func(b []byte) []byte { return appendValue(b, &s.Values[i], false) })
	}
	return w.flushFull()
}

func (w *writer) flushFull() (err error) {
	for _, st := range w.stores() {
		if st.full() {
			err = errors.Join(err, st.flush())
		}
	}
	return err
}

// appendStored appends the values of s, each with its length, as putSaved takes them.
func (w *writer) appendStored(b []byte, s *formats.Sample) []byte {
	w.stored = appendValue(w.stored[:0], &s.Values[w.Meta.Schema.ImageIndex()], true)
	b = wire.AppendBytes(b, w.stored)
	for _, i := range w.extra {
		w.stored = appendValue(w.stored[:0], &s.Values[i], false)
		b = wire.AppendBytes(b, w.stored)
	}
	return b
}

// putSaved is put for the values that were saved.
func (w *writer) putSaved(key string, values *wire.Cursor) error {
	for _, st := range w.stores() {
		for db := range st.dbis {
			v := values.Bytes()
			st.put(db, key, func(b []byte) []byte { return append(b, v...) })
		}
	}
	if values.Failed || len(values.B) > 0 {
		return fmt.Errorf("%w: key %q: its saved values cannot be parsed", formats.ErrDamaged, key)
	}
	return w.flushFull()
}

// Save implements formats.Saver.
func (w *writer) Save(note []byte) error {
	if w.SavesOnly() {
		return w.Single.Save(note, nil)
	}
	var reading []*storeReader
	err := w.Do(func() error { // a batch that could not be written is an error for good
		for _, st := range w.stores() {
			if err := st.wait(); err != nil {
				return err
			}
		}
		return nil
	})
	for _, st := range w.stores() {
		if err != nil {
			return err
		}
		var r *storeReader
		if r, err = st.read(); err == nil {
			defer r.txn.Abort()
			reading = append(reading, r)
		}
	}
	if err != nil {
		return err
	}
	return w.Single.Save(note, func(b []byte, key string) ([]byte, error) {
		for _, r := range reading {
			for db := range r.dbis {
				v, err := r.value(db, key)
				if err != nil {
					return nil, fmt.Errorf("key %q: %w", key, err)
				}
				b = wire.AppendBytes(b, v)
			}
		}
		return b, nil
	})
}

// Checkpoint implements formats.Writer.
func (w *writer) Checkpoint(note []byte) error {
	return w.Do(func() error { return w.checkpoint(note) })
}

func (w *writer) checkpoint(note []byte) error {
	if err := w.LoadSaved(w.putSaved); err != nil {
		return err
	}
	var snapshots []snapshot
	for _, s := range w.stores() {
		if err := s.sync(); err != nil {
			return err
		}
		snap, err := s.snapshot()
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
	if err := w.Single.Checkpoint(b, note); err != nil {
		return err
	}
	// Only after the new checkpoint is durable may the previous one's pages be reused.
	for _, s := range w.stores() {
		if err := s.reopen(); err != nil {
			return err
		}
	}
	return nil
}

// Commit implements formats.Writer.
func (w *writer) Commit() error { return w.Do(w.commit) }

func (w *writer) commit() error {
	if err := w.LoadSaved(w.putSaved); err != nil {
		return err
	}
	dir := w.Path(stagedName)
	sums, err := w.finish()
	if err != nil {
		return err
	}
	environments, err := openEnvironments(dir, w.Meta.Schema)
	if err == nil {
		err = w.WriteSidecar(dir, "", sums, nil, places(environments, refuse))
	}
	if err = errors.Join(err, closeAll(environments)); err != nil {
		return err
	}
	return w.Finish(dir)
}

// finish brings the data files into their final form and returns their checksums.
func (w *writer) finish() (sums checksum.Checksums, err error) {
	if w.reused != nil {
		return w.reused, w.linkReused()
	}
	names := []string{dataName, fieldsName + "/" + dataName}
	for i, s := range w.stores() {
		sum, err := s.finish(names[i])
		if err != nil {
			return nil, err
		}
		sums = append(sums, sum)
	}
	if w.fields != nil {
		return sums, durable.SyncDir(w.fields.dir)
	}
	return sums, nil
}

// Close implements formats.Writer.
func (w *writer) Close() error {
	var err error
	for _, s := range []*store{w.images, w.fields} {
		if s != nil {
			err = errors.Join(err, s.close())
		}
	}
	return errors.Join(err, w.Single.Close())
}

var _ formats.FileReuser = (*writer)(nil)

// ReuseFile implements formats.FileReuser: file 0 is the whole environment, which is reused with
// all its values. change may alter what is in the manifest: source, a designated label of kind
// Label, split and columns.
func (w *writer) ReuseFile(i int, change func(*formats.Info)) error {
	if err := w.CheckOpen(); err != nil {
		return err
	}
	if i != 0 || w.reused != nil || w.Len() > 0 {
		return errors.New("an LMDB dataset has one file: it is either reused or written again, not both")
	}
	environments, err := openEnvironments(w.ReplacedPath(""), w.Meta.Schema)
	if err != nil {
		return errors.Join(err, closeAll(environments))
	}
	defer closeAll(environments) //nolint:errcheck // it was only read
	old, sums, err := w.Replaced(places(environments, ignore))
	if err != nil {
		return err
	}
	for _, fs := range sums {
		if fs.Name == dataName || fs.Name == fieldsName+"/"+dataName {
			w.reused = append(w.reused, fs)
		}
	}
	return errors.Join(old.EachRow(change, w.AppendRow), old.CloseIndex())
}

// linkReused links the old data files into the staging folder, which takes no time and no space,
// or copies them if the file system has no hard links.
func (w *writer) linkReused() error {
	for _, s := range w.stores() {
		if err := s.close(); err != nil {
			return err
		}
		if err := s.removeLock(); err != nil {
			return err
		}
	}
	for _, fs := range w.reused {
		from, to := w.ReplacedPath(fs.Name), filepath.Join(w.Path(stagedName), filepath.FromSlash(fs.Name))
		if err := w.Remove(path.Join(stagedName, fs.Name)); err != nil {
			return err
		}
		if err := staging.LinkOrCopy(from, to); err != nil {
			return fmt.Errorf("reuse %s: %w", from, err)
		}
		if err := durable.SyncDir(filepath.Dir(to)); err != nil {
			return err
		}
	}
	return nil
}
