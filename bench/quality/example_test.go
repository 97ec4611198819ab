package quality_test

import (
	"fmt"
	"log"

	"github.com/dsconv/dsconv/bench/quality"
	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

func Example() {
	var original, packed pixel.Image
	original.Reset(32, 32, 3, formats.Uint8)
	packed.Reset(32, 32, 3, formats.Uint8)
	for i := range original.Pix {
		original.Pix[i] = byte(i)
		packed.Pix[i] = byte(i) ^ 1
	}

	var d quality.Difference
	if err := d.Add(&original, &packed); err != nil {
		log.Panic(err)
	}
	fmt.Printf("%.1f dB, SSIM %.4f\n", d.PSNR(), d.SSIM())
	// Output: 48.1 dB, SSIM 1.0000
}
