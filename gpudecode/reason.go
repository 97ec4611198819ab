package gpudecode

// The reasons why an image took a slower path that lie in the image itself: the same image takes the same path
// each time on the same GPU with the same library.
const (
	ReasonNotJPEG   = "no JPEG"
	ReasonIrregular = "irregular"        // damaged, or what only the CPU's decoder can judge
	ReasonColors    = "colours"          // CMYK, or stored as RGB
	ReasonGray      = "colours to grey"  // a coloured JPEG in grey batches
	ReasonWindow    = "window"           // not inside the image that the JPEG's header tells
	ReasonSize      = "too large"        // more than the Decoder's memory for pixels
	ReasonSmall     = "too small"        // rows of less than 8 bytes, of which it could not be told that they are missing
	ReasonResize    = "strong reduction" // more than the kernel reduces at once
	ReasonKind      = "JPEG_NOT_SUPPORTED"
)

// The reasons that lie in the GPU at that moment.
const (
	ReasonNotWritten = "not written"       // nvJPEG reported success, but pixels are missing
	ReasonMemory     = "out of GPU memory" // even for the image alone
)

// ByKind reports whether a reason lies in the image itself. The others are failures, such as a status of nvJPEG's
// that an intact image should not get, pixels that are missing, or too little memory.
func ByKind(reason string) bool {
	switch reason {
	case "", ReasonNotJPEG, ReasonIrregular, ReasonColors, ReasonGray, ReasonWindow, ReasonSize, ReasonSmall, ReasonResize, ReasonKind:
		return true
	}
	return false
}
