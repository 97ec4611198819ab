package reader

import (
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/image/pixelops"
	"github.com/dsconv/dsconv/preprocess/pixel"
	"github.com/dsconv/dsconv/reader/augment"
	"github.com/dsconv/dsconv/reader/random"
)

// batchMixer applies MixUp and CutMix to the batches of an epoch. It is safe for concurrent use.
type batchMixer struct {
	frame  *frame
	mixers []augment.Mixer
	seed   uint64
}

// mix mixes each of b's entries with the one before it, and the first with that of before. The
// global batch starts at position. Images stay as they are where the consumer mixes them.
func (m *batchMixer) mix(b, before *Batch, epoch, position int) *augment.Mixing {
	r := random.NewRand(m.seed^mixUpStream, epoch, position)
	mixer := m.mixers[0]
	if len(m.mixers) > 1 {
		mixer = m.mixers[r.IntN(len(m.mixers))]
	}
	f := m.frame
	how := mixer.Mix(f.shape[0], f.shape[1], &r)
	f.soften(b)
	f.soften(before)
	for i := b.N - 1; i >= 0; i-- {
		from, k := b, i-1
		if i == 0 {
			from, k = before, 0
		}
		f.mixLabels(b, i, from, k, &how)
		if f.leaves == augment.LeaveNothing {
			f.mixImage(b, i, from, k, &how)
		}
	}
	return &how
}

// soften sets the soft labels of b's entries from their own labels.
func (f *frame) soften(b *Batch) {
	if f.soft == 0 {
		return // the labels are numbers
	}
	clear(b.Soft)
	for i := range b.N {
		row := b.Soft[i*f.soft:][:f.soft]
		if f.columns > 0 {
			for k, v := range b.MultiHot[i*f.columns:][:f.columns] {
				row[k] = float32(v)
			}
		} else if x := b.Label(i); x >= 0 && x < int64(len(row)) {
			row[x] = 1
		}
	}
}

// mixLabels mixes the label of entry i of b with that of entry k of from.
func (f *frame) mixLabels(b *Batch, i int, from *Batch, k int, how *augment.Mixing) {
	pixelops.Blend(b.Soft[i*f.soft:][:f.soft], from.Soft[k*f.soft:][:f.soft], float32(how.Share), float32(1-how.Share))
	if f.numbers() {
		pixelops.Blend(Elements[float32](b.labels)[i:i+1], Elements[float32](from.labels)[k:k+1], float32(how.Share), float32(1-how.Share))
	}
}

// mixImage mixes the image of entry i of b with that of entry k of from.
func (f *frame) mixImage(b *Batch, i int, from *Batch, k int, how *augment.Mixing) {
	n := f.entry()
	if how.Cut {
		f.paste(b, i, from, k, how.Region)
		return
	}
	if f.dtype == formats.Float32 {
		pixelops.Blend(Elements[float32](b.images)[i*n:][:n], Elements[float32](from.images)[k*n:][:n], float32(how.Share), float32(1-how.Share))
		return
	}
	pixelops.BlendHalf(f.dtype, Elements[uint16](b.images)[i*n:][:n], Elements[uint16](from.images)[k*n:][:n], float32(how.Share), float32(1-how.Share))
}

// paste copies region p of entry k of src into entry i of dst.
func (f *frame) paste(dst *Batch, i int, src *Batch, k int, p pixel.Rect) {
	planes, size := 1, f.shape[2]*f.dtype.Size()
	if f.layout == pixel.NCHW {
		planes, size = f.shape[2], f.dtype.Size()
	}
	n, to, from := f.entryBytes(), dst.images, src.images
	h, w := f.shape[0], f.shape[1]
	for c := range planes {
		for y := p.Y; y < p.Y+p.H; y++ {
			at := ((c*h+y)*w + p.X) * size
			copy(to[i*n+at:][:p.W*size], from[k*n+at:])
		}
	}
}
