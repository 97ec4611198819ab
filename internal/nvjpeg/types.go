package nvjpeg

// Video is the library of the driver by which nvJPEG reaches JPEG engines. Without it a GPU seems to have none.
const Video = "libnvcuvid.so.1"

// VideoAdvice is what provides Video.
const VideoAdvice = "a container gets it by NVIDIA_DRIVER_CAPABILITIES=compute,utility,video"

// Backend is an implementation of the decoder.
type Backend int

// The backends.
const (
	Default   Backend = 0
	Hybrid    Backend = 1 // Huffman codes on the CPU
	GPUHybrid Backend = 2 // batches above 50 images have Huffman codes decoded on the GPU
	Hardware  Backend = 3 // the GPU's JPEG engine
)

// Flags change how a Handle decodes.
type Flags uint

// The flags. nvjpeg.h writes them as 1<<5, without parentheses.
const (
	// Interpolate makes chroma samples between those of the file, as libjpeg does by default, instead of repeating them.
	// Before 13.2 the outermost pixels of a region may differ from the whole image's.
	Interpolate Flags = 1 << 5
)

// Format is how pixels are stored.
type Format int

// The formats.
const (
	Y    Format = 2 // luma alone
	RGBI Format = 5 // interleaved
)

// Scale is how much smaller the hardware makes an image.
type Scale int

// The scales.
const (
	Full    Scale = 0
	Half    Scale = 1
	Quarter Scale = 2
	Eighth  Scale = 3
)

// Subsampling is how chroma is stored.
type Subsampling int

// The subsamplings.
const (
	CSS444     Subsampling = 0
	CSS422     Subsampling = 1
	CSS420     Subsampling = 2
	CSS440     Subsampling = 3
	CSS411     Subsampling = 4
	CSS410     Subsampling = 5
	CSSGray    Subsampling = 6
	CSS410V    Subsampling = 7
	CSSUnknown Subsampling = -1
)

// Header is what the header of a JPEG says.
type Header struct {
	W, H int // in pixels
}

// Request says what is decoded of an image, and how.
type Request struct {
	Format Format
	// X, Y, W and H are the region that is decoded, in pixels of the image as it is stored. W = 0 is the whole image.
	X, Y, W, H int
	// Scale is for the hardware alone.
	Scale Scale
}
