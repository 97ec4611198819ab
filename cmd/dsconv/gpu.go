package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/dsconv/dsconv/convert"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode"
	"github.com/dsconv/dsconv/preprocess"
)

func nvjpegFlag(usage string) cli.Flag {
	return &cli.StringFlag{Name: "nvjpeg", Usage: usage, DefaultText: "where it is usually installed"}
}

// openGPU opens the GPU that a recipe decodes on, if it does, for the conversion. closeGPU closes it.
func (o *writeOptions) openGPU(cc *cli.Context) (closeGPU func(), err error) {
	r := &o.convert.Recipe
	switch {
	case r.Decoder != preprocess.DecoderGPU && cc.IsSet("nvjpeg"):
		return nil, usageErrorf("--nvjpeg is for --decoder gpu")
	case r.Decoder != preprocess.DecoderGPU:
		return func() {}, nil
	}
	if err := r.Validate(); err != nil {
		return nil, usageError{err}
	}
	if o.convert.GPU, err = gpudecode.Open(gpuOptions(cc)); err != nil {
		return nil, err
	}
	return func() { o.convert.GPU.Close() }, nil
}

func gpuOptions(cc *cli.Context) gpudecode.Options {
	o := gpudecode.Options{NVJPEG: cc.String("nvjpeg")}
	program, err := os.Executable()
	if err != nil {
		return o
	}
	// In a wheel the program is dsconv/bin/dsconv of the Python packages, among which nvidia-nvjpeg may be.
	if bin := filepath.Dir(program); filepath.Base(bin) == "bin" && filepath.Base(filepath.Dir(bin)) == "dsconv" {
		o.Packages = []string{filepath.Dir(filepath.Dir(bin))}
	}
	return o
}

// editGPU is the GPU of an edit. A dataset that was packed with --decoder gpu needs it only if images are decoded: so
// it is no error yet if it cannot be opened.
type editGPU struct {
	*gpudecode.GPU
	missing error
}

// openEditGPU opens the GPU for an edit of the dataset that m describes, if it was packed with one.
func openEditGPU(cc *cli.Context, m *formats.Meta) (g editGPU, err error) {
	switch isGPU := m.Recipe["decoder"] == string(preprocess.DecoderGPU); {
	case !isGPU && cc.IsSet("nvjpeg"):
		return g, usageErrorf("--nvjpeg is for datasets that were packed with --decoder gpu")
	case isGPU:
		g.GPU, g.missing = gpudecode.Open(gpuOptions(cc))
	}
	return g, nil
}

func (g *editGPU) close() {
	if g.GPU != nil {
		g.Close()
	}
}

// explain returns err, the error of the edit, or why there is no GPU if the dataset at path needs one.
func (g *editGPU) explain(path string, err error) error {
	if g.missing != nil && errors.Is(err, convert.ErrNoGPU) {
		return fmt.Errorf("%s was packed with --decoder gpu, so a GPU must decode these images too: %w", path, g.missing)
	}
	return err
}
