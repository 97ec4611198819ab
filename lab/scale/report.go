//go:build linux

package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
)

// growth is how many times as long a read takes in the large dataset as in the small one: the
// ratio of the rounds' minimum processor times, which other work on the machine disturbs least.
type growth map[string]float64

func grown(small, large measurements) growth {
	g := growth{}
	for name, ns := range large.CPU {
		g[name] = slices.Min(ns) / slices.Min(small.CPU[name])
	}
	return g
}

// report prints the minimum times.
func report(out io.Writer, name string, m []measurements, g growth) {
	for _, d := range m {
		fmt.Fprintf(out, "%s of %d: open %.0f ms (%.0f of processors), close %.0f ms\n", name, d.Samples,
			1e3*slices.Min(d.OpenSeconds), 1e3*slices.Min(d.OpenCPU), 1e3*slices.Min(d.CloseSeconds))
	}
	for _, pass := range slices.Sorted(maps.Keys(g)) {
		fmt.Fprintf(out, "  %-14s %7.0f ns %7.0f ns  x %.2f\n", pass, slices.Min(m[0].CPU[pass]), slices.Min(m[1].CPU[pass]), g[pass])
	}
	if len(m[1].Processes) > 0 {
		reportProcesses(out, m)
	}
	for _, name := range slices.Sorted(maps.Keys(m[1].Disk)) {
		fmt.Fprintf(out, "  %-20s %7.1f us a read, open %.0f ms\n", name, slices.Min(m[1].Disk[name])/1e3, 1e3*slices.Min(m[1].DiskOpenSeconds))
	}
}
