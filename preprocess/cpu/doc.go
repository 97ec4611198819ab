// Package cpu tells which vector instructions the processor has. The kernels in C ask it too, by
// cpu.h.
package cpu
