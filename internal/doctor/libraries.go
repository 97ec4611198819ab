package doctor

import (
	"cmp"
	"runtime"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/image/jpeg"
)

const needsCgo = "this build lacks it: install gcc and the libraries (make deps), and build with CGO_ENABLED=1"

// libraries describes this build of dsconv, of that version, and the libraries in it.
func libraries(version string) []Line {
	return []Line{
		ok("dsconv", "%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		jpegLine(),
		library("LMDB", lmdb.LibraryVersion(), "writing LMDB is off"),
		library("HDF5", hdf5.LibraryVersion(), "writing HDF5 is off"),
		processor(),
	}
}

func jpegLine() Line {
	line := ok(jpeg.DecoderName, "%s", jpeg.DecoderVersion())
	switch slow := jpeg.SlowJPEG(); {
	case !jpeg.HasLibjpegTurbo:
		return line.warn("images are kept as they are, and not decoded or changed: " + needsCgo)
	case slow != "":
		return line.warn("JPEGs are decoded slowly: %s", slow)
	}
	return line
}

// library is the line of a C library; its version is "" in a build without it.
func library(name, version, off string) Line {
	if version == "" {
		return ok(name, "not in this build").warn("%s: %s", off, needsCgo)
	}
	return ok(name, "%s", version)
}

// processor says whether it has the vector instructions that dsconv's kernels use.
func processor() Line {
	line := ok("processor", "%s", cmp.Or(strings.TrimSpace(cpuid.CPU.BrandName), runtime.GOARCH))
	if runtime.GOARCH != "arm64" && !cpuid.CPU.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C) {
		return line.warn("it has no AVX2, or the virtual machine hides it: images are resized and changed several times slower; " +
			"in a virtual machine choose the host's own processor model")
	}
	return line
}
