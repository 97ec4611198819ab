package doctor

import (
	"cmp"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/klauspost/cpuid/v2"

	"github.com/dsconv/dsconv/formats/hdf5"
	"github.com/dsconv/dsconv/formats/lmdb"
	"github.com/dsconv/dsconv/internal/image/jpeg"
)

const needsCgo = "this build lacks it: install gcc and the libraries (make deps), and build with CGO_ENABLED=1"

// Libraries describes this build of dsconv, of that version, and the libraries in it.
func Libraries(version string) []Line {
	modules := modules()
	lines := []Line{
		ok("dsconv", "%s, %s, %s/%s", version, runtime.Version(), runtime.GOOS, runtime.GOARCH),
		jpegLine(),
		library("LMDB", lmdb.LibraryVersion(), "writing LMDB is off"),
		library("HDF5", hdf5.LibraryVersion(), "writing HDF5 is off"),
		ok("zstd", "klauspost/compress %s", cmp.Or(modules["github.com/klauspost/compress"], "of an unknown version")),
	}
	return append(lines, simd(&cpuid.CPU))
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

// simd describes the vector instructions that dsconv's kernels use.
func simd(cpu *cpuid.CPUInfo) Line {
	line := ok("processor", "%s", cmp.Or(strings.TrimSpace(cpu.BrandName), runtime.GOARCH))
	switch {
	case cpu.Supports(cpuid.AVX512F, cpuid.AVX512BW):
		line.Value += ", AVX-512"
	case cpu.Supports(cpuid.AVX2, cpuid.FMA3, cpuid.F16C):
		line.Value += ", AVX2"
	case runtime.GOARCH == "arm64":
		line.Value += ", NEON"
	default:
		return line.warn("it has no AVX2, or the virtual machine hides it: images are resized and changed several times slower; " +
			"in a virtual machine choose the host's own processor model")
	}
	return line
}

// modules returns the versions of the Go modules in this program.
func modules() map[string]string {
	versions := map[string]string{}
	if info, found := debug.ReadBuildInfo(); found {
		for _, dep := range info.Deps {
			versions[dep.Path] = dep.Version
		}
	}
	return versions
}
