//go:build asan

package fakegpu

// flags of the compiler: the tests' own AddressSanitizer checks the libraries too.
var flags = []string{"-fsanitize=address"}
