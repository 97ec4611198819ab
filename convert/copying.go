package convert

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// processor processes the samples of a run, and copies of them, in one goroutine.
type processor struct {
	*preprocess.Processor // of samples
	run                   *run

	// Of copies, nil if there are none: pixels makes those of the sample, copier augments them, and encoder encodes
	// them.
	pixels, encoder *preprocess.Processor
	copier          Copier
	sample          formats.Sample // the pixels
}

// newProcessor returns a processor that asks reserve before it makes large results; nil for none.
func (r *run) newProcessor(reserve func(n int64) bool) (_ *processor, err error) {
	p := &processor{run: r}
	defer func() {
		if err != nil {
			p.Close()
		}
	}()
	if p.Processor, err = preprocess.NewProcessor(r.o.Recipe, r.schema); err != nil {
		return nil, err
	}
	p.StopBy(&r.stop)
	p.ReserveOutput = reserve
	if r.copies == nil {
		return p, nil
	}
	whole := r.o.Recipe
	whole.Encode, whole.Zstd = codec.EncodeOptions{Encoding: formats.Raw}, 0
	encode := preprocess.Recipe{Encode: r.o.Recipe.Encode, Zstd: r.o.Recipe.Zstd, Color: pixel.ColorKeep, MaxPixels: r.o.Recipe.MaxPixels}
	if p.pixels, err = preprocess.NewProcessor(whole, r.schema); err != nil {
		return nil, err
	}
	if p.encoder, err = preprocess.NewProcessor(encode, r.schema); err != nil {
		return nil, err
	}
	p.pixels.StopBy(&r.stop)
	p.encoder.StopBy(&r.stop)
	p.pixels.ReserveOutput, p.encoder.ReserveOutput = reserve, reserve
	p.copier, err = r.o.Copies.Augmenter.NewCopier(r.schema, r.o.Recipe.MaxPixels)
	return p, err
}

// Close frees p's memory.
func (p *processor) Close() {
	p.Processor.Close()
	p.pixels.Close()
	p.encoder.Close()
	if p.copier != nil {
		p.copier.Close()
	}
}

// process makes j.out of j.in, and returns the Processor that knows what was irregular about the source.
func (p *processor) process(j *job) (*preprocess.Processor, error) {
	if p.copier == nil {
		return p.Processor, p.ProcessDecoded(&j.in, j.decoded, &j.out)
	}
	number, copied := p.run.copies.entry(p.run.order.at(j.pos))
	if copied == 0 {
		return p.Processor, p.ProcessDecoded(&j.in, j.decoded, &j.out)
	}
	if err := p.pixels.Process(&j.in, &p.sample); err != nil {
		return p.pixels, err
	}
	if err := p.copier.Copy(&p.sample, int(p.run.copies.ranks.At(number)), copied); err != nil {
		return p.pixels, fmt.Errorf("augment: %w", err)
	}
	err := p.encoder.Process(&p.sample, &j.out)
	if j.reserved > 0 { // large pixels are not kept
		p.sample = formats.Sample{}
	}
	return p.pixels, err
}

// saidBefore reports whether what is irregular about j's source is said of another sample: of the source itself, or of its
// first copy.
func (p *processor) saidBefore(j *job) bool {
	if p.copier == nil {
		return false
	}
	_, copied := p.run.copies.entry(p.run.order.at(j.pos))
	return copied > 1 || copied == 1 && !p.run.o.Copies.Only
}
