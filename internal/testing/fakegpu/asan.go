//go:build asan

package fakegpu

// flags of the compiler for the libraries that this process loads: its AddressSanitizer checks them too.
var flags = []string{"-fsanitize=address"}
