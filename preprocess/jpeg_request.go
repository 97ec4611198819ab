package preprocess

// jpegRequest says what of a JPEG is decoded, and how.
type jpegRequest struct {
	w, h     int  // of the whole image
	channels int  // 1 or 3
	scale    int  // 1, 2, 4 or 8: the image is decoded so many times smaller
	part     Rect // of the scaled image
	fast     bool
	plain    bool // by libjpeg alone, to compare with
}
