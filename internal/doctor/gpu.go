package doctor

import (
	"errors"
	"fmt"

	"github.com/dsconv/dsconv/internal/cuda"
	"github.com/dsconv/dsconv/internal/nvjpeg"
)

// oldestGPU is the oldest compute capability that kernels are built for.
const oldestGPU = 75

// nvidia is what NVIDIA's libraries say of themselves.
type nvidia struct {
	cards           []cuda.Properties
	cuda            string // the newest version that the driver supports
	noDriver        error
	nvjpeg, version string // the library's file
	noLibrary       error
	noVideo         bool // nvjpeg.Video is missing
}

// openNVIDIA opens the libraries that decoding would open. No context is created, so no GPU's memory is taken. packages are
// folders with Python's packages, which may bring CUDA's libraries along.
func openNVIDIA(packages []string) (n nvidia) {
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
	library, err := nvjpeg.Open(nvjpeg.Search{Packages: packages, CUDA: major})
	if err != nil {
		n.noLibrary = err
		return n
	}
	n.nvjpeg, n.version, n.noVideo = library.Path(), library.Version(), !nvjpeg.HasVideo()
	return n
}

// lines describes the GPUs, CUDA and nvJPEG, and says whether JPEGs can be decoded there.
func (n nvidia) lines() (lines []Line) {
	for _, card := range n.cards {
		lines = append(lines, ok("GPU", "%s, %s", card.Name, size(card.Memory)))
	}
	if len(n.cards) == 0 {
		lines = append(lines, ok("GPU", "none from NVIDIA"))
	}
	if n.cuda != "" {
		lines = append(lines, ok("CUDA", "up to %s, by the driver", n.cuda))
	}
	if n.nvjpeg != "" {
		lines = append(lines, ok("nvJPEG", "%s, version %s", n.nvjpeg, n.version))
	}
	return append(lines, n.decoding())
}

// decoding says whether GPUs can decode JPEGs, and else what is missing.
func (n nvidia) decoding() Line {
	const name, off = "GPU decoding", "off: %s; images are decoded on the processor's cores"
	switch {
	case errors.Is(n.noDriver, cuda.ErrNotInstalled):
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
