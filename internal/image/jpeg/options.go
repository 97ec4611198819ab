package jpeg

// EncodeOptions are how a JPEG is encoded; see Encode.
type EncodeOptions struct {
	Quality               int
	Sampling              Sampling
	Optimize, Progressive bool
	Interval              int
}

// Sampling is how much smaller a JPEG's colours are stored than its brightness.
type Sampling string

// The samplings.
const (
	Sampling444 Sampling = "444" // as large
	Sampling422 Sampling = "422" // half as wide
	Sampling420 Sampling = "420" // half as wide and half as high
)
