package inmemory

import (
	"context"
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// Options say what is held.
type Options struct {
	Split string // whose samples are held; "" is all
	// Limit is the most bytes of pixels that the samples may have together, decoded or not, so that the same
	// samples are held as bytes and as pixels. At least one is held.
	Limit int64
	// Decode is how images are decoded.
	Decode codec.DecodeOptions
}

const (
	most  = 512 // samples: more would not make an epoch more like that of all
	tried = 16  // samples that tell how large they are
)

// Dataset has as many samples as another one, with its keys and splits, but the values of a few in memory, each in the place of
// several. It is safe for concurrent use. It lends its memory, which is Go's.
type Dataset struct {
	formats.Dataset
	held []formats.Sample
}

var _ formats.Viewer = (*Dataset)(nil)

// Hold reads samples of ds that are evenly spread. ds stays the caller's, and must be open as long as the Dataset is used. Samples
// that cannot be read or decoded are passed over; if there is no other, the error is that of the first.
func Hold(ctx context.Context, ds formats.Dataset, o Options) (*Dataset, error) {
	h := holder{ds: ds, options: o, image: ds.Meta().Schema.ImageIndex()}
	if h.image < 0 {
		return nil, fmt.Errorf("%w: no field of kind image", formats.ErrSchema)
	}
	h.decoder = codec.NewDecoder()
	defer h.decoder.Close()
	n, err := h.count(ctx)
	if err != nil {
		return nil, err
	}
	d := &Dataset{Dataset: ds}
	for k := range n {
		s, _, err := h.near(ctx, k, n)
		if errors.Is(err, errNone) {
			continue
		}
		if err != nil {
			return nil, err
		}
		d.held = append(d.held, *s)
	}
	return d, nil
}

// Held is how many samples are in memory.
func (d *Dataset) Held() int { return len(d.held) }

// Samples returns the samples in memory, which must not be changed.
func (d *Dataset) Samples() []formats.Sample { return d.held }

// Decoded returns the same samples with the pixels of their images, decoded whole.
func (d *Dataset) Decoded(ctx context.Context, o codec.DecodeOptions) (*Dataset, error) {
	decoder := codec.NewDecoder()
	defer decoder.Close()
	image := d.Meta().Schema.ImageIndex()
	p := &Dataset{Dataset: d.Dataset, held: make([]formats.Sample, len(d.held))}
	for k := range d.held {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		from, to := &d.held[k], &p.held[k]
		to.Key, to.Split = from.Key, from.Split
		to.Values = append([]formats.Value(nil), from.Values...)
		var m pixel.Image
		if err := decoder.Decode(&m, &from.Values[image], o); err != nil {
			return nil, fmt.Errorf("decode %s: %w", from.Key, err)
		}
		var v formats.Value
		v.Set(formats.Value{Data: m.Pix, Encoding: formats.Raw, DType: m.DType, Shape: []int{m.H, m.W, m.C}})
		to.Values[image] = v
	}
	return p, nil
}

// View implements formats.Viewer.
func (d *Dataset) View(i int, s *formats.Sample) error {
	if i < 0 || i >= d.Len() {
		return fmt.Errorf("sample %d: the indices are 0 to %d", i, d.Len()-1)
	}
	h := &d.held[i*len(d.held)/d.Len()]
	s.Key, s.Split, s.Values = h.Key, h.Split, h.Values
	return nil
}

// Read implements formats.Dataset.
func (d *Dataset) Read(i int, s *formats.Sample) error {
	in, err := d.Info(i)
	if err != nil {
		return err
	}
	err = d.View(i, s)
	s.Key, s.Split = in.Key, in.Split
	return err
}

// Lease implements formats.Viewer: the memory is Go's own.
func (d *Dataset) Lease() (release func(), err error) { return func() {}, nil }

// Close implements formats.Dataset. The dataset that the samples are from stays open.
func (d *Dataset) Close() error { return nil }
