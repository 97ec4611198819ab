package codec

import (
	"errors"
	"strings"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// What is not read is named, with what to do.
func TestUnsupportedTIFFsAreNamed(t *testing.T) {
	d := NewDecoder()
	defer d.Close()
	unread := 0
	for name, data := range tiffs(t) {
		_, _, err := Inspect(data)
		if err == nil {
			continue
		}
		unread++
		var m pixel.Image
		decoded := d.Decode(&m, &formats.Value{Data: data}, DecodeOptions{})
		if !errors.Is(err, pixel.ErrUnsupported) || !strings.Contains(err.Error(), "dsconv.pack(dataset, DST)") || decoded == nil || decoded.Error() != err.Error() {
			t.Errorf("%s: %v, %v", name, err, decoded)
		}
	}
	if unread == 0 {
		t.Error("all are read")
	}
}

func TestBigEndianBigTIFFIsNamed(t *testing.T) {
	if _, _, err := Inspect([]byte("MM\x00+\x00\x08\x00\x00")); !errors.Is(err, pixel.ErrNotImage) || !strings.Contains(err.Error(), "a big-endian BigTIFF") {
		t.Error(err)
	}
}
