// Package cpu reports which vector instructions the processor has. The C kernels ask it through level.h.
package cpu
