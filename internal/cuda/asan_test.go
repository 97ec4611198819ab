//go:build asan

package cuda_test

// sanitize compiles a program as the fake libraries are compiled.
var sanitize = []string{"-fsanitize=address"}
