//go:build cgo

package jpeg

import (
	"os"
	"testing"
)

// The library of the build is supported. If another is loaded on purpose, that is detected, and the
// other tests pass nevertheless.
func TestLayoutOfLibjpeg(t *testing.T) {
	if why := SlowJPEG(); (why != "") != (os.Getenv("DSCONV_OTHER_LIBJPEG") != "") {
		t.Errorf("our Huffman decoder is not used: %q", why)
	}
}
