//go:build !asan

package fakegpu

// flags of the compiler, beside those that all builds have.
var flags []string
