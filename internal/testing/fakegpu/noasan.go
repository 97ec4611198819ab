//go:build !asan

package fakegpu

// flags of the compiler for the libraries that this process loads.
var flags []string
