//go:build cgo

package preprocess

// twins are what must equal the Go reference.
var twins = map[string]passes{
	"fused crop in Go": goPasses8,
	"C with AVX2":      cPasses8(true),
	"portable C":       cPasses8(false),
}
