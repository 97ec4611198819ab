package parallel

import "runtime"

// cores is what GOMAXPROCS was when the program started; it follows the cgroup's limit.
var cores = runtime.GOMAXPROCS(0)

// Cores is the number of cores that the program may use, whatever RaiseForC set GOMAXPROCS to.
func Cores() int { return cores }

// RaiseForC raises GOMAXPROCS above the number of cores. Images are decoded in C, and a goroutine
// that returns from C waits until fewer than GOMAXPROCS goroutines run, while its core is idle: with
// GOMAXPROCS equal to the number of cores, loading took a third longer. It is for main
// functions: a package must not change a setting of the program.
func RaiseForC() { runtime.GOMAXPROCS(4 * cores) }
