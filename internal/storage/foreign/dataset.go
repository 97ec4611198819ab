package foreign

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/guard"
	"github.com/dsconv/dsconv/internal/storage/description"
	"github.com/dsconv/dsconv/internal/storage/filestate"
	"github.com/dsconv/dsconv/internal/storage/indexfile"
	"github.com/dsconv/dsconv/internal/storage/mapped"
	"github.com/dsconv/dsconv/internal/storage/sampleindex"
	"github.com/dsconv/dsconv/internal/storage/sharded"
)

// dataset reads what another program wrote. It is safe for concurrent use.
type dataset struct {
	description.ValueReader
	source   *Source
	files    []*mapped.Mapping
	contents *contents
	states   []filestate.State
	fields   []FieldSource
	slot     []int // of each field: the position in Row.Fields, -1 for the image and the label of the row
	skips    []skip
	notices  []string
	id       sampleindex.ID
}

var (
	_ formats.Dataset        = (*dataset)(nil)
	_ formats.Viewer         = (*dataset)(nil)
	_ formats.Prefetcher     = (*dataset)(nil)
	_ formats.StorageOrdered = (*dataset)(nil)
	_ formats.Identifier     = (*dataset)(nil)
	_ formats.Skipper        = (*dataset)(nil)
)

// Open opens the dataset s. It scans the files if the user's cache has no index of them, which ends when ctx
// does. Two processes may do so at once; if the cache cannot be written, the index is in a file without a name.
func Open(ctx context.Context, s *Source) (formats.Dataset, error) {
	files, states, err := s.openFiles()
	if err != nil {
		return nil, err
	}
	d := &dataset{source: s, files: files, contents: newContents(s, files), states: states, id: s.id(states)}
	if err := d.contents.check(); err != nil {
		return nil, errors.Join(err, d.closeFiles())
	}
	index, known, err := d.load(ctx)
	if err != nil {
		return nil, errors.Join(err, d.closeFiles())
	}
	d.Description, d.fields, d.skips, d.notices = description.New(&known.Meta, index), known.Fields, known.Skips, known.Notices
	d.place()
	d.Path, d.Lend = s.Path, d.lend
	d.Gate.Open(s.Path, func() error { return errors.Join(d.closeFiles(), index.Close()) })
	return d, nil
}

func (d *dataset) closeFiles() error { return errors.Join(d.contents.close(), closeFiles(d.files)) }

// load opens the index and the description in the cache, or makes them.
func (d *dataset) load(ctx context.Context) (*indexfile.File, *described, error) {
	if known := readDescription(d.id); known != nil {
		index, err := indexfile.OpenCached(&indexfile.Source{ID: d.id, Count: known.Meta.Count})
		if err == nil {
			return index, known, nil
		}
	}
	return d.make(ctx)
}

// make scans the files.
func (d *dataset) make(ctx context.Context) (index *indexfile.File, known *described, err error) {
	if err := settle(ctx, d.states); err != nil {
		return nil, nil, err
	}
	f, err := d.source.scan(ctx, d.files, d.contents)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, f.close()) }()
	if err := d.source.checkAll(d.states); err != nil {
		return nil, nil, err
	}
	p, err := d.source.plan(f, d.states)
	if err != nil {
		return nil, nil, err
	}
	if known, err = p.describe(); err != nil {
		return nil, nil, err
	}
	rows := p.rows(func(skip) {})
	index, err = indexfile.MakeCached(&indexfile.Source{ID: d.id, Columns: d.source.Columns, Fields: p.fields, Count: known.Meta.Count, Rows: rows})
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", d.source.Path, err)
	}
	known.keep(d.id)
	return index, known, nil
}

// describe goes over the rows to describe the dataset.
func (p *plan) describe() (*described, error) {
	profile := sampleindex.NewProfile(p.source.Columns, p.fields)
	note := func(s skip) { p.skips = append(p.skips, s) }
	err := p.rows(note)(func(r *sampleindex.Row) error {
		profile.Add(r)
		return nil
	})
	s := p.source
	switch {
	case err != nil:
		return nil, err
	case len(p.skips) > maxSkips:
		return nil, s.unreadable(p.skips, "more than %d of its samples cannot be read", maxSkips)
	case profile.Len() == 0:
		return nil, s.unreadable(p.skips, "none of its samples can be read")
	}
	d := &described{Fields: p.layout.Fields, Skips: p.skips, Notices: p.layout.Notices, Meta: formats.Meta{
		Version: 1, Format: s.Format, Schema: p.layout.Schema, Columns: s.Columns, Recipe: s.Options.Recipe(),
	}}
	for _, f := range s.Files {
		d.Meta.Files = append(d.Meta.Files, f.Name)
	}
	profile.Describe(&d.Meta)
	return d, nil
}

// place numbers the locations of the extra fields, as plan does.
func (d *dataset) place() {
	n := 0
	for k, f := range d.fields {
		if len(f.Columns) == 0 || k == d.Meta().Schema.ImageIndex() {
			d.slot = append(d.slot, -1)
			continue
		}
		d.slot = append(d.slot, n)
		n++
	}
}

// Skips implements formats.Skipper: it lists what is in the files and is no sample.
func (d *dataset) Skips() []formats.Skip { return d.skips }

// Notices says how the samples were read, where that is not evident.
func (d *dataset) Notices() []string { return d.notices }

// DataFiles lists the paths of the data files, which the dataset's path does not tell.
func (d *dataset) DataFiles() []string {
	paths := make([]string, len(d.source.Files))
	for k, f := range d.source.Files {
		paths[k] = f.Path
	}
	return paths
}

// Identify implements formats.Identifier.
func (d *dataset) Identify(w io.Writer) error {
	_, err := w.Write(d.id[:])
	return err
}

// lend returns field k of sample i: see description.ValueReader.
func (d *dataset) lend(_ int, e sampleindex.Entry, k int, shape []int) (formats.Value, error) {
	field := d.Meta().Schema[k]
	at := e.Location()
	if slot := d.slot[k]; slot >= 0 {
		at.Offset, at.Length = e.Field(slot).Offset, e.Field(slot).Length
		if at.Offset < 0 {
			return lendDefault(field.Kind), nil
		}
	}
	if err := at.CheckIn(len(d.files), d.contents.size); err != nil {
		return formats.Value{}, err
	}
	raw, err := d.contents.slice(at.Shard, at.Offset, at.Length)
	if err != nil {
		return formats.Value{}, fmt.Errorf("%s: %w", d.source.Files[at.Shard].Path, err)
	}
	mark := guard.Now()
	v, err := d.decode(k, raw, shape)
	if err = guard.Since(mark, raw, err); err != nil {
		return v, fmt.Errorf("%s at byte %d: %w", d.source.Files[at.Shard].Path, at.Offset, err)
	}
	if k == d.Meta().Schema.ImageIndex() && len(v.Shape) == 0 && e.Shape() != [3]int{} {
		s := e.Shape()
		shape = append(shape[:0], s[0], s[1], s[2])
		v.Shape = shape
	}
	return v, nil
}

func (d *dataset) decode(k int, raw []byte, shape []int) (formats.Value, error) {
	if as := d.fields[k].As; as != "" {
		return d.source.Decode(as, raw, shape)
	}
	if kind := d.Meta().Schema[k].Kind; kind == formats.Image || kind == formats.Mask {
		encoding := formats.Sniff(raw)
		if encoding == "" {
			return formats.Value{}, fmt.Errorf("%w: it is not an image that dsconv reads", formats.ErrDamaged)
		}
		return formats.Value{Data: raw, Encoding: encoding}, nil
	}
	return formats.Value{Data: raw, Encoding: formats.Plain}, nil
}

// lendDefault is what a sample has that lacks a field of that kind.
func lendDefault(k formats.Kind) formats.Value {
	switch k {
	case formats.Number:
		return formats.Value{Data: binary.LittleEndian.AppendUint32(nil, math.Float32bits(float32(math.NaN()))), Encoding: formats.Raw, DType: formats.Float32}
	case formats.JSON:
		return formats.Value{Data: []byte("null"), Encoding: formats.Plain}
	}
	return formats.Value{Encoding: formats.Plain}
}

// Read implements formats.Dataset.
func (d *dataset) Read(i int, s *formats.Sample) error {
	err := d.ValueReader.Read(i, s)
	if err == nil && d.source.Verify != nil {
		err = d.verify(i)
	}
	return d.checked(i, err)
}

// verify verifies the bytes at the place of sample i's designated image, which were just read.
func (d *dataset) verify(i int) error {
	if err := d.Gate.Enter(i); err != nil {
		return err
	}
	defer d.Gate.Leave(i)
	e, err := d.Index().At(i)
	if err != nil {
		return err
	}
	at := e.Location()
	raw, err := d.files[at.Shard].Slice(at.Offset, at.Length)
	if err == nil {
		err = guard.Read(raw, func() error { return d.source.Verify(raw) })
	}
	if err != nil {
		return fmt.Errorf("read %s: %s: %w", d.Path, d.Index().Name(i), err)
	}
	return nil
}

// View implements formats.Viewer.
func (d *dataset) View(i int, s *formats.Sample) error {
	return d.checked(i, d.ValueReader.View(i, s))
}

// checked returns read, the error of reading sample i, unless its file was written to since the dataset was opened: that is
// the error then.
func (d *dataset) checked(i int, read error) error {
	if errors.Is(read, formats.ErrClosed) {
		return read
	}
	at, err := d.location(i)
	if err == nil && at.Shard >= 0 && at.Shard < len(d.files) {
		err = d.states[at.Shard].Check(d.source.Files[at.Shard].Path)
	}
	if errors.Is(err, formats.ErrChanged) || read == nil {
		return err
	}
	return read
}

func (d *dataset) location(i int) (sampleindex.Location, error) {
	if err := d.Gate.Enter(i); err != nil {
		return sampleindex.Location{}, err
	}
	defer d.Gate.Leave(i)
	e, err := d.Index().At(i)
	if err != nil {
		return sampleindex.Location{}, err
	}
	return e.Location(), nil
}

// Prefetch implements formats.Prefetcher.
func (d *dataset) Prefetch(indices []int32) {
	locations := make([]sampleindex.Location, 0, len(indices))
	if d.Gate.Enter(0) != nil {
		return
	}
	defer d.Gate.Leave(0)
	for _, i := range indices {
		e, err := d.Index().At(int(i))
		if err != nil {
			continue // reading it reports the error
		}
		if at := e.Location(); !d.contents.isPacked(at.Shard) {
			locations = append(locations, at)
		}
	}
	sharded.Prefetch(d.files, locations)
}

// EachStored implements formats.StorageOrdered.
func (d *dataset) EachStored(yield func(i int32) error) error {
	return sampleindex.EachStored(d.Len(), func(i int32) (sampleindex.Location, error) { return d.location(int(i)) }, yield)
}
