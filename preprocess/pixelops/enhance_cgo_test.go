//go:build cgo

package pixelops

import (
	"github.com/dsconv/dsconv/preprocess/cpu"
	"github.com/dsconv/dsconv/preprocess/pixel"
)

// enhanceTwins, blurTwins and sharpenTwins are what must equal the Go references.
var (
	enhanceTwins = map[string]func(*Enhancer, *pixel.Image, []Enhancement){
		"portable C": enhanceC(cpu.LevelPortable), "C, AVX2": enhanceC(cpu.LevelAVX2),
	}
	blurTwins    = map[string]func(*Enhancer, *blurring){"portable C": blurC(cpu.LevelPortable), "C, AVX2": blurC(cpu.LevelAVX2)}
	sharpenTwins = map[string]func(*Enhancer, *blurring){
		"portable C": sharpenC(cpu.LevelPortable), "C, AVX2": sharpenC(cpu.LevelAVX2),
	}
)
