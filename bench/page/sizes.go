package page

import (
	"fmt"

	"github.com/dsconv/dsconv/bench"
)

// sizes compares the datasets' bytes on disk and in memory.
func sizes(r *bench.Report) section {
	s := section{ID: "sizes", Short: "Sizes", Title: "Sizes"}
	list := subjects(r, func(d *bench.Dataset) bool { return d.Disk > 0 || d.PeakMemory > 0 })
	if len(list) == 0 {
		return s
	}
	s.chart(&chart{Title: "Bytes on disk, and the largest memory of the process", Data: bars{
		Unit: inBytes, Labels: labels(list), Series: []series{
			valuesOf(list, "on disk", "read", func(d subject) float64 { return float64(d.Disk) }),
			valuesOf(list, "peak memory", "collate", func(d subject) float64 { return float64(d.PeakMemory) }),
			valuesOf(list, "of it pages of the files", "other", func(d subject) float64 { return float64(d.Mapped) }),
		},
	}})
	s.table(bySubject(list, []column{
		{"format", words},
		{"samples", number},
		{"on disk", number},
		{"of the first", number},
		{"per sample", number},
		{"peak memory", number},
		{"mapped", number},
		{"memory estimated", number},
	}, func(d subject) []string {
		first := &d.run.Datasets[0]
		return []string{
			formatOf(d), count(int64(d.Samples)), cell(d.Disk > 0, size(d.Disk)),
			cell(d.Disk > 0 && first.Disk > 0, fmt.Sprintf("%.2f", ratio(float64(d.Disk), float64(first.Disk)))),
			cell(d.Disk > 0 && d.Samples > 0, size(int64(ratio(float64(d.Disk), float64(d.Samples))))),
			cell(d.PeakMemory > 0, size(d.PeakMemory)), cell(d.PeakMemory > 0, size(d.Mapped)), cell(d.Memory.Total() > 0, size(d.Memory.Total())),
		}
	}))
	return s
}

// formatOf is a dataset's format with what its images are.
func formatOf(d subject) string {
	text := sentence(d.Format)
	for _, s := range []string{d.Encoding, d.Resize, d.Split} {
		if s != "" {
			text += ", " + sentence(s)
		}
	}
	return text
}
