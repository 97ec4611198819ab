//go:build !asan

package cuda_test

var sanitize []string
