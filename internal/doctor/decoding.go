package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// oldestGPU is the oldest compute capability that kernels are built for.
const oldestGPU = 75

// nvidia is what NVIDIA's libraries say of themselves.
type nvidia struct {
	cards    []cuda.Properties
	cuda     string // the newest version that the driver supports
	noDriver error
	noVideo  bool // nvjpeg.Video is missing
	silent   bool // something did not answer
	// nvjpeg is the library's file. It is opened only if there is a driver; version is "" if it was not.
	nvjpeg, version string
	noLibrary       error
}

// openNVIDIA opens the libraries that decoding would open. No context is created, so no GPU's memory is taken.
func openNVIDIA(search nvjpeg.Search) (n nvidia) {
	driver, err := cuda.Open()
	if err != nil {
		return nvidia{noDriver: err}
	}
	for i := range driver.Devices() {
		card, err := driver.Describe(i)
		if err != nil {
			return nvidia{noDriver: err}
		}
		n.cards = append(n.cards, card)
	}
	major, minor := driver.Version()
	n.cuda = fmt.Sprintf("%d.%d", major, minor)
	search.CUDA = major
	library, err := nvjpeg.Open(search)
	if err != nil {
		n.noLibrary = err
		return n
	}
	n.nvjpeg, n.version, n.noVideo = library.Path(), library.Version(), !nvjpeg.HasVideo()
	return n
}

// decoding says whether GPUs can decode JPEGs, and else what is missing. present is whether there is a GPU of NVIDIA's,
// by other signs than the driver's library.
func (n nvidia) decoding(present bool) Line {
	const name, off = "GPU decoding", "off: %s; images are decoded on the processor's cores"
	switch {
	case errors.Is(n.noDriver, cuda.ErrNotInstalled) && !present:
		return ok(name, off, "this process sees no NVIDIA GPU").advise("a container gets the GPUs of its machine by --gpus all")
	case n.noDriver != nil:
		return ok(name, off, "no GPU can be used").advise("%v", n.noDriver)
	case n.noLibrary != nil:
		return ok(name, off, "no usable nvJPEG").advise("%v", n.noLibrary)
	}
	for _, card := range n.cards {
		if 10*card.Major+card.Minor >= oldestGPU {
			line := ok(name, "ready: %s, compute capability %d.%d; CUDA %s; nvJPEG %s", card.Name, card.Major, card.Minor, n.cuda, n.version)
			if n.noVideo {
				return line.advise("the driver's %s cannot be loaded, without which the JPEG engine of an A100, H100 or newer one is not used: %s", nvjpeg.Video, nvjpeg.VideoAdvice)
			}
			return line.advise("dsconv pack --decoder gpu, or Loader(decoder=\"gpu\") in Python")
		}
	}
	return ok(name, off, fmt.Sprintf("no GPU has compute capability %d.%d or more", oldestGPU/10, oldestGPU%10))
}

// libraries opens NVIDIA's libraries, and finds nvJPEG's file if it was not opened.
func (m *Machine) libraries(ctx context.Context, search nvjpeg.Search) nvidia {
	n, answered := within(ctx, m.timeout, func() nvidia {
		n := m.nvidia(search)
		if n.nvjpeg == "" {
			packages, elsewhere := search.Files()
			if files := slices.Concat(packages, elsewhere); len(files) > 0 {
				n.nvjpeg = files[0]
			}
		}
		return n
	})
	if !answered {
		n.noDriver = fmt.Errorf("the driver or a folder of libraries did not answer within %v", m.timeout)
		n.silent = true
	}
	return n
}

// library says where nvJPEG is.
func (n nvidia) library(present bool, search nvjpeg.Search) Line {
	const name = "nvJPEG"
	switch {
	case n.silent:
		return ok(name, "unknown").warn("%v", n.noDriver)
	case n.version != "":
		return ok(name, "%s, version %s", n.nvjpeg, n.version)
	case n.nvjpeg != "":
		return ok(name, "%s", n.nvjpeg)
	case present:
		return ok(name, "not found").advise("CUDA's JPEG decoder comes with the CUDA toolkit, or with %s", search.Advice())
	}
	return ok(name, "not found")
}
