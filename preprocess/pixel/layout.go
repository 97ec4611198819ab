package pixel

// Layout is the order of a batch's dimensions.
type Layout string

// The layouts. In NHWC the channels of a pixel are together, as in image files; in NCHW each channel
// is a plane, as in PyTorch.
const (
	NHWC Layout = "nhwc"
	NCHW Layout = "nchw"
)
