package trainer

import (
	"context"
	"fmt"
	"iter"
	"math"
	"math/rand/v2"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/reader"
)

// memory is a Loader over images that draw draws from their index; the class is the
// index modulo the number of classes.
type memory struct {
	samples, batch, side, classes int
	offset                        int // of the first image's index: two sets that share none
	pad                           bool
	draw                          func(m *memory, pixels []uint8, index int)
	prefix                        string // of the classes' names
	onBatch                       func(i int) error
	onSamples                     func(indices []int)
}

func (m *memory) Len() int           { return (m.samples + m.batch - 1) / m.batch }
func (m *memory) Samples() int       { return m.samples }
func (m *memory) ImageShape() [3]int { return [3]int{m.side, m.side, 3} }

func (m *memory) Classes() []string {
	names := make([]string, m.classes)
	for i := range names {
		names[i] = fmt.Sprintf("%sclass%02d", m.prefix, i)
	}
	return names
}

func (m *memory) Epoch(ctx context.Context, epoch int) iter.Seq2[*reader.Batch, error] {
	return m.from(ctx, epoch, 0)
}

// from is Epoch from a position on, which is the first of a batch or the end.
func (m *memory) from(ctx context.Context, epoch, position int) iter.Seq2[*reader.Batch, error] {
	return func(yield func(*reader.Batch, error) bool) {
		order := rand.New(rand.NewPCG(7, uint64(epoch))).Perm(m.samples)
		for i := (position + m.batch - 1) / m.batch; i < m.Len(); i++ {
			if err := ctx.Err(); err != nil {
				yield(nil, err)
				return
			}
			if m.onBatch != nil {
				if err := m.onBatch(i); err != nil {
					yield(nil, err)
					return
				}
			}
			b := m.collate(order[i*m.batch : min((i+1)*m.batch, m.samples)])
			b.End = i*m.batch + b.N
			if m.onSamples != nil {
				m.onSamples(b.Indices[:b.N])
			}
			if !yield(b, nil) {
				return
			}
		}
	}
}

// collate builds a batch of the samples; with pad it has m.batch rows, of which the last
// are noise with index -1 and a label that no class has.
func (m *memory) collate(order []int) *reader.Batch {
	rows, size := len(order), m.side*m.side*3
	if m.pad {
		rows = m.batch
	}
	b := newBatch([4]int{rows, m.side, m.side, 3}, formats.Int64)
	b.N = len(order)
	labels := reader.Labels[int64](b)
	for i := range rows {
		pixels := reader.Pixels[uint8](b)[i*size : (i+1)*size]
		if i >= len(order) {
			b.Indices[i], labels[i] = -1, -1
			for j := range pixels {
				pixels[j] = uint8(j * 31)
			}
			continue
		}
		index := m.offset + order[i]
		b.Indices[i], labels[i] = index, int64(index%m.classes)
		m.draw(m, pixels, index)
	}
	return b
}

// newBatch is a batch of uint8 pixels.
func newBatch(shape [4]int, labels formats.DType) *reader.Batch {
	b, err := reader.NewBatch(shape, formats.Uint8, labels)
	if err != nil {
		panic(err)
	}
	return b
}

// stripes run in a direction that is the class; phase, width and colours are random, and
// there is noise.
func stripes(m *memory, pixels []uint8, index int) {
	r := rand.New(rand.NewPCG(11, uint64(index)))
	angle := math.Pi * (float64(index%m.classes) + 0.3*(r.Float64()-0.5)) / float64(m.classes)
	phase, period := 2*math.Pi*r.Float64(), 4+2*r.Float64()
	sin, cos := math.Sincos(angle)
	var base, swing [3]float64
	for c := range 3 {
		base[c], swing[c] = 90+75*r.Float64(), 30+50*r.Float64()
	}
	for i := range m.side * m.side {
		x, y := float64(i%m.side), float64(i/m.side)
		wave := math.Sin(2*math.Pi*(x*cos+y*sin)/period + phase)
		for c := range 3 {
			v := base[c] + swing[c]*wave + 12*r.NormFloat64()
			pixels[3*i+c] = uint8(min(max(v, 0), 255))
		}
	}
}

// ramps are brighter towards one side, which is the class: easy for an mlp.
func ramps(m *memory, pixels []uint8, index int) {
	r := rand.New(rand.NewPCG(13, uint64(index)))
	sin, cos := math.Sincos(2 * math.Pi * float64(index%m.classes) / float64(m.classes))
	for i := range m.side * m.side {
		x, y := float64(i%m.side)/float64(m.side)-0.5, float64(i/m.side)/float64(m.side)-0.5
		for c := range 3 {
			pixels[3*i+c] = uint8(128 + 80*(x*cos+y*sin) + 20*(r.Float64()-0.5))
		}
	}
}
