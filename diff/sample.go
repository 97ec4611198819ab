package diff

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/codec"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// described compares what Info has of a sample, without reading it.
func (c *comparison) described(a, b *formats.Info) []Difference {
	var list []Difference
	for _, p := range c.match.fields {
		if p.info {
			fa, fb := &c.a.Meta().Schema[p.a], &c.b.Meta().Schema[p.b]
			named := bothNamed(fa, fb)
			list = append(list, labelDifference(p.name, oneLabel(fa, a.Label, named), oneLabel(fb, b.Label, named))...)
		}
	}
	if a.Split != b.Split {
		list = append(list, Difference{Aspect: AspectSplit, From: listOf(a.Split), To: listOf(b.Split)})
	}
	for _, p := range c.match.columns {
		if x, y := a.Columns[p.a], b.Columns[p.b]; x != y {
			list = append(list, Difference{Aspect: AspectColumn, Field: p.name, From: listOf(x), To: listOf(y)})
		}
	}
	return list
}

func listOf(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}

// sameValues reports whether the checksums show that all values are equal. The bytes of raw pixels
// do not contain the shape, so it is compared too.
func (c *comparison) sameValues(a, b *formats.Info) bool {
	return c.match.sums && a.Checksum != [16]byte{} && a.Checksum == b.Checksum && a.Size == b.Size && a.Encoding == b.Encoding &&
		(!a.Encoding.IsRaw() || a.Shape == b.Shape)
}

// reader compares the values of samples. It belongs to one goroutine, which uses it for many samples.
type reader struct {
	*comparison
	dec    *codec.Decoder
	a, b   formats.Sample
	pa, pb pixel.Image
}

// values compares sample i of A and j of B, and reads them only if their checksums do not suffice.
func (r *reader) values(i, j int, a, b *formats.Info) ([]Difference, error) {
	// A sample without a checksum, of a folder, is read first: its checksum may suffice.
	readA, errA := r.sum(r.comparison.a, i, a, &r.a)
	readB, errB := r.sum(r.comparison.b, j, b, &r.b)
	if errA == nil && errB == nil {
		if r.sameValues(a, b) {
			return nil, nil
		}
		if !readA {
			errA = r.comparison.a.Read(i, &r.a)
		}
		if !readB {
			errB = r.comparison.b.Read(j, &r.b)
		}
	}
	if errA != nil || errB != nil {
		return unreadable(a, b, errA, errB)
	}
	return r.compare()
}

// unreadable reports that files of a sample could not be read. A sample of a dataset that has checksums lies with the
// others, so it is an error; so is one that all samples would have.
func unreadable(a, b *formats.Info, errA, errB error) ([]Difference, error) {
	d := Difference{Aspect: AspectUnreadable}
	for _, side := range []struct {
		name string
		of   *formats.Info
		err  error
		to   *[]string
	}{{"first", a, errA, &d.From}, {"second", b, errB, &d.To}} {
		switch err := side.err; {
		case err == nil:
		case side.of.Checksum != [16]byte{}, errors.Is(err, formats.ErrDamaged), errors.Is(err, formats.ErrClosed), pixel.EndsRun(err):
			return nil, fmt.Errorf("the %s dataset: %w", side.name, err)
		default:
			*side.to = []string{err.Error()}
		}
	}
	return []Difference{d}, nil
}

// sum reads sample i of ds if it has no checksum and completes its Info.
func (r *reader) sum(ds formats.Dataset, i int, in *formats.Info, s *formats.Sample) (read bool, err error) {
	if in.Checksum != [16]byte{} {
		return false, nil
	}
	if err := ds.Read(i, s); err != nil {
		return false, err
	}
	schema := ds.Meta().Schema
	img := &s.Values[schema.ImageIndex()]
	in.Checksum, in.Size, in.Encoding = checksum.SampleChecksum(schema, s), int64(len(img.Data)), img.Encoding
	return true, nil
}

func (r *reader) compare() ([]Difference, error) {
	var list []Difference
	for _, p := range r.match.fields {
		fa, fb := &r.comparison.a.Meta().Schema[p.a], &r.comparison.b.Meta().Schema[p.b]
		va, vb := &r.a.Values[p.a], &r.b.Values[p.b]
		switch {
		case p.info: // described compares it
		case p.sort == labelled:
			named := bothNamed(fa, fb)
			list = append(list, labelDifference(p.name, labelNames(fa, va, named), labelNames(fb, vb, named))...)
		case p.sort == pixels:
			found, err := r.images(p.name, fa.Kind, va, vb)
			if err != nil {
				return nil, err
			}
			list = append(list, found...)
		case !bytes.Equal(va.Data, vb.Data) || va.DType != vb.DType || !slices.Equal(va.Shape, vb.Shape):
			list = append(list, Difference{Aspect: AspectBytes, Field: p.name})
		}
	}
	return list, nil
}

// images compares two images or masks.
func (r *reader) images(name string, kind formats.Kind, a, b *formats.Value) ([]Difference, error) {
	var list []Difference
	switch {
	case a.Encoding != b.Encoding || !bytes.Equal(a.Data, b.Data):
		list = append(list, Difference{Aspect: AspectBytes, Field: name})
	case !a.Encoding.IsRaw() || a.DType == b.DType && slices.Equal(a.Shape, b.Shape):
		return nil, nil
	}
	o := codec.DecodeOptions{Color: pixel.ColorKeep, Indices: kind == formats.Mask}
	errA, errB := r.dec.Decode(&r.pa, a, o), r.dec.Decode(&r.pb, b, o)
	if err := errors.Join(errA, errB); pixel.EndsRun(err) {
		return nil, err
	}
	if (errA == nil) != (errB == nil) || errA == nil && !samePixels(&r.pa, &r.pb) {
		list = append(list, Difference{Aspect: AspectPixels, Field: name})
	}
	return list, nil
}

func samePixels(a, b *pixel.Image) bool {
	return a.H == b.H && a.W == b.W && a.C == b.C && a.DType == b.DType && bytes.Equal(a.Pix, b.Pix)
}
