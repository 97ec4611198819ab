package parity

import (
	"context"
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess"
	"github.com/dsconv/dsconv/preprocess/codec"
)

// gpuPath makes the images of the path gpu: what --decoder gpu makes of a source.
type gpuPath struct {
	info    gpudecode.Info
	recipe  preprocess.Recipe
	decoder *preprocess.GPUDecoder
	batcher *gpudecode.Batcher
}

// imageOnly is the schema of what is compared.
var imageOnly = formats.Schema{{Name: "image", Kind: formats.Image}}

// newGPUPath returns the path gpu for a dataset of a recipe, nil if it was not packed on a GPU or here is none. resize
// is the recipe of the path resize.
func newGPUPath(packed, resize preprocess.Recipe, gpu *gpudecode.GPU) (*gpuPath, error) {
	if packed.Decoder != preprocess.DecoderGPU || gpu == nil {
		return nil, nil
	}
	g := &gpuPath{info: gpu.Info(), recipe: resize}
	g.recipe.Decoder, g.recipe.Device, g.recipe.Decode = preprocess.DecoderGPU, preprocess.DeviceOf(g.info), packed.Decode
	var err error
	if g.batcher, err = gpu.NewBatcher(gpudecode.BatcherConfig{Bytes: preprocess.MaxGPUResult, Fast: packed.Decode == codec.Fast}); err != nil {
		return nil, err
	}
	if g.decoder, err = preprocess.NewGPUDecoder(g.recipe, imageOnly, g.batcher); err != nil {
		g.batcher.Close()
		return nil, err
	}
	return g, nil
}

func (g *gpuPath) close() {
	if g != nil {
		g.batcher.Close()
	}
}

// described is the GPU for Python, nil if there is none.
func (g *gpuPath) described() *gpudecode.Info {
	if g == nil {
		return nil
	}
	return &g.info
}

// sendGPU sends what the GPU makes of an image, or that it leaves it to the CPU.
func (m *maker) sendGPU(ctx context.Context, k int, v *formats.Value) error {
	if m.gpu == nil {
		return nil
	}
	m.in.Resize(1)
	m.in.Values[0].Set(*v)
	if err := m.gpu.decoder.Decode(ctx, &m.in, &m.decodedByGPU); err != nil {
		return err
	}
	out := m.decodedByGPU.Outcomes()[0]
	if out.Path == gpudecode.CPU {
		return m.sendPixels(k, "gpu", nil, fmt.Errorf("decoded on the CPU: %s", out.Reason))
	}
	msg := image{Sample: k, Name: "gpu", By: string(out.Path)}
	if err := m.onGPU.ProcessDecoded(&m.in, &m.decodedByGPU, &m.out); err != nil {
		return m.sendImage(msg, nil, err)
	}
	return m.sendImage(msg, m.result(), nil)
}
