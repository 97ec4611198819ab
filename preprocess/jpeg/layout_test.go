//go:build cgo

package jpeg

import (
	"os"
	"testing"
)

// TestLayoutOfLibjpeg: the library that is built in is known. Where another is loaded on purpose,
// that is noticed, and the other tests hold all the same.
func TestLayoutOfLibjpeg(t *testing.T) {
	if why := SlowJPEG(); (why != "") != (os.Getenv("DSCONV_OTHER_LIBJPEG") != "") {
		t.Errorf("libjpeg is used plainly: %q", why)
	}
}
