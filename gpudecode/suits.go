package gpudecode

// Suits returns why the GPU would leave a JPEG to the CPU for results of so many channels, one of the Reasons that lie in
// the image itself; "" if it may decode it. It reads the header and follows the markers, and decodes nothing.
func Suits(jpeg []byte, channels int) (reason string) {
	_, reason = inspect(jpeg, channels)
	return reason
}
