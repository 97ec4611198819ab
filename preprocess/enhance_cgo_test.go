//go:build cgo

package preprocess

// enhanceTwins, blurTwins and sharpenTwins are what must equal the Go references.
var (
	enhanceTwins = map[string]func(*Enhancer, *Image, []Enhancement){
		"portable C": enhanceC(levelPortable), "C, AVX2": enhanceC(levelAVX2),
	}
	blurTwins    = map[string]func(*Enhancer, *blurring){"portable C": blurC(levelPortable), "C, AVX2": blurC(levelAVX2)}
	sharpenTwins = map[string]func(*Enhancer, *blurring){
		"portable C": sharpenC(levelPortable), "C, AVX2": sharpenC(levelAVX2),
	}
)
