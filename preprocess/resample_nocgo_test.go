//go:build !cgo

package preprocess

// resizers are what must equal the Go reference.
func resizers(r *Resampler) map[string]resizer {
	return map[string]resizer{"fused crop in Go": r.resize8Go}
}
