package kernels

// Canary is memory of the GPU that a decoder is about to write: rows of pixels. CanaryFill fills it with a pattern that
// depends on the place and on a seed. CanaryCheck counts the runs of 8 bytes that still have it, which the decoder did
// not write. A decoded image has one by chance once in 2^64 runs; only one of less than 8 bytes may well do, so what is
// untouched is decoded again with another seed or by other means.
type Canary struct {
	Address uint64
	Pitch   int32 // bytes from row to row
	Width   int32 // bytes of a row's pixels
	Rows    int32
	_       int32
}

// CanaryBytes returns what is uploaded: the memory of list.
func CanaryBytes(list []Canary) []byte { return bytesOf(list) }

// CanaryLaunch returns how CanaryFill and CanaryCheck are launched for a list, which has 1 to 65535 entries.
func CanaryLaunch(list []Canary) Launch {
	const runsOfThread, mostBlocks = 4, 256
	runs := 1
	for _, c := range list {
		runs = max(runs, (int(c.Width)*int(c.Rows)+7)/8)
	}
	blocks := min((runs+threads*runsOfThread-1)/(threads*runsOfThread), mostBlocks)
	return Launch{Grid: [3]uint32{uint32(blocks), 1, uint32(len(list))}, Block: [3]uint32{threads, 1, 1}}
}
