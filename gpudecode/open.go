//go:build linux && cgo

package gpudecode

import (
	"cmp"
	"errors"
	"fmt"
	"sync"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/gpudecode/internal/kernels"
	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

var errClosed = fmt.Errorf("gpudecode: %w", formats.ErrClosed)

// GPU is an open GPU with its libraries. It is safe for concurrent use.
type GPU struct {
	device             *cuda.Device
	number             int
	module             *cuda.Module
	store, fill, check *cuda.Function
	library            *nvjpeg.Library
	handle             *nvjpeg.Handle // for the path CUDA
	hardware           *nvjpeg.Handle // nil if the GPU has no engine
	info               Info

	mu     sync.Mutex
	users  int // Decoders that are not closed
	closed bool
}

// Open opens the GPU and its libraries. Close it after what was made of it.
func Open(o Options) (*GPU, error) {
	g := &GPU{number: o.Device}
	if err := g.open(o); err != nil {
		_ = g.free() // there is an error already
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return g, nil
}

func (g *GPU) open(o Options) error {
	driver, err := cuda.Open()
	if err != nil {
		return err
	}
	major, minor := driver.Version()
	if g.library, err = nvjpeg.Open(nvjpeg.Search{Path: o.NVJPEG, Packages: o.Packages, CUDA: major}); err != nil {
		return err
	}
	if g.device, err = driver.Device(o.Device); err != nil {
		return err
	}
	g.info = Info{
		Card: g.device.Name, UUID: g.device.UUID, Compute: fmt.Sprintf("%d.%d", g.device.Major, g.device.Minor),
		Driver: fmt.Sprintf("%d.%d", major, minor), Library: g.library.Path(), NVJPEG: g.library.Version(), Memory: g.device.Memory,
	}
	if err := g.load(); err != nil {
		return err
	}
	// Interpolated colours, as libjpeg's.
	if g.handle, err = g.library.Create(g.device, nvjpeg.Default, nvjpeg.Interpolate); err != nil {
		return err
	}
	return g.openEngine()
}

// load loads the kernels.
func (g *GPU) load() error {
	code, err := kernels.Image(g.device.Major, g.device.Minor)
	if err != nil {
		return err
	}
	if g.module, err = g.device.Load(code); err != nil {
		return err
	}
	for name, f := range map[string]**cuda.Function{kernels.Store: &g.store, kernels.CanaryFill: &g.fill, kernels.CanaryCheck: &g.check} {
		if *f, err = g.module.Function(name); err != nil {
			return err
		}
	}
	return nil
}

// openEngine opens the GPU's JPEG engine if it has one.
func (g *GPU) openEngine() error {
	var err error
	g.hardware, err = g.library.Create(g.device, nvjpeg.Hardware, nvjpeg.Interpolate)
	if err != nil {
		g.info.NoEngine = noEngine(err)
		return statusOnly(err)
	}
	if g.info.Engines, g.info.Cores, err = g.hardware.Hardware(); statusOnly(err) != nil {
		return err
	}
	if err != nil || g.info.Engines*g.info.Cores == 0 {
		g.info.Engines, g.info.Cores, g.info.NoEngine = 0, 0, noEngine(cmp.Or(err, errNoEngine))
		err, g.hardware = g.hardware.Close(), nil
	}
	return err
}

var errNoEngine = errors.New("nvJPEG counts 0 engines")

// noEngine is Info.NoEngine.
func noEngine(err error) string {
	if nvjpeg.HasVideo() {
		return err.Error()
	}
	return fmt.Sprintf("%v; the driver's %s cannot be loaded, without which nvJPEG finds no engine: %s", err, nvjpeg.Video, nvjpeg.VideoAdvice)
}

// Info describes the GPU.
func (g *GPU) Info() Info { return g.info }

// use notes a new Decoder.
func (g *GPU) use() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed || g.device == nil {
		return errClosed
	}
	g.users++
	return nil
}

// unuse notes that a Decoder was closed.
func (g *GPU) unuse() {
	g.mu.Lock()
	g.users--
	g.mu.Unlock()
}

// Close closes the GPU. It is an error if Decoders or Batchers are not closed yet; then nothing is closed. A second
// call does nothing.
func (g *GPU) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.closed:
		return nil
	case g.users > 0:
		return fmt.Errorf("gpudecode.GPU.Close: %d Decoders are open: close them first", g.users)
	}
	g.closed = true
	return g.free()
}

// free frees what was opened.
func (g *GPU) free() error {
	var errs []error
	for _, h := range []*nvjpeg.Handle{g.hardware, g.handle} {
		if h != nil {
			errs = append(errs, h.Close())
		}
	}
	if g.module != nil {
		errs = append(errs, g.module.Close())
	}
	if g.device != nil {
		errs = append(errs, g.device.Close())
	}
	return errors.Join(errs...)
}
