package parallel

import "runtime"

// cores is what GOMAXPROCS was when the program started; it follows the cgroup's limit.
var cores = runtime.GOMAXPROCS(0)

// Cores is the number of cores that the program may use, whatever RoomForC made of GOMAXPROCS.
func Cores() int { return cores }

// RoomForC raises GOMAXPROCS above the number of cores. Images are decoded in C, and a goroutine
// that comes back from there has to wait until one of GOMAXPROCS places is free for it, its core
// idle meanwhile: with as many places as cores, loading took a third longer. It is for main
// functions; a package must not change what is the program's.
func RoomForC() { runtime.GOMAXPROCS(4 * cores) }
