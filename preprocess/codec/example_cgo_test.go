//go:build cgo

package codec_test

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/codec"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// A JPEG for people to look at, with all colours, and small.
func ExampleEncodeOptions() {
	o := codec.EncodeOptions{Encoding: formats.JPEG, Quality: codec.DefaultQuality, Sampling: pixel.Sampling444, Optimize: true}
	fmt.Println(o, o.Check("o"))
	// Output: jpeg:90:444:optimize <nil>
}
