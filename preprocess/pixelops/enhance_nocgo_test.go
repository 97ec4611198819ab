//go:build !cgo

package pixelops

import "github.com/dsconv/dsconv/preprocess/pixel"

// enhanceTwins, blurTwins and sharpenTwins are what must equal the Go references.
var (
	enhanceTwins = map[string]func(*Enhancer, *pixel.Image, []Enhancement){"itself": enhanceGo}
	blurTwins    = map[string]func(*Enhancer, *blurring){"itself": blurGo}
	sharpenTwins = map[string]func(*Enhancer, *blurring){"itself": sharpenGo}
)
