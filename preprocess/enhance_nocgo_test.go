//go:build !cgo

package preprocess

// enhanceTwins, blurTwins and sharpenTwins are what must equal the Go references.
var (
	enhanceTwins = map[string]func(*Enhancer, *Image, []Enhancement){"itself": enhanceGo}
	blurTwins    = map[string]func(*Enhancer, *blurring){"itself": blurGo}
	sharpenTwins = map[string]func(*Enhancer, *blurring){"itself": sharpenGo}
)
