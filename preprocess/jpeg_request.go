package preprocess

// jpegRequest is the region of a JPEG to decode, and how.
type jpegRequest struct {
	w, h        int  // of the whole image
	channels    int  // 1 or 3
	scale       int  // 1, 2, 4 or 8: the image is scaled down by so much
	region      Rect // of the scaled image
	fast        bool
	libjpegOnly bool // without our Huffman decoder, for tests to compare with
}
