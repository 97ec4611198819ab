package main

import (
	"fmt"
	"strings"

	"github.com/dsconv/dsconv/formats"
)

// printPixelStats prints the statistics of a dataset's pixels, if it has them, each line after indent.
func printPixelStats(c *console, s *formats.PixelStats, indent string) {
	if s == nil {
		return
	}
	printFigures(c, &s.PixelFigures, indent, "pixels    ")
	for i := range s.Splits {
		printFigures(c, &s.Splits[i], indent+"  ", "split    "+printable(s.Splits[i].Split)+":")
	}
}

func printFigures(c *console, f *formats.PixelFigures, indent, name string) {
	c.printf("%s%s mean %s, deviation %s; heights %s, widths %s", indent, name, figuresText(f.Mean), figuresText(f.Std), rangeText(f.Height), rangeText(f.Width))
	if f.Undecoded > 0 {
		c.printf("; %d images could not be decoded", f.Undecoded)
	}
	c.printf("\n")
	if least, most := leastAndMost(f.Classes); most > 0 {
		c.printf("%s  classes  %d to %d images each\n", indent, least, most)
	}
}

func figuresText(v [3]float64) string {
	var text []string
	for _, x := range v {
		text = append(text, fmt.Sprintf("%.4f", x))
	}
	return strings.Join(text, " ")
}

// rangeText is the range of sizes: smallest, median, largest.
func rangeText(r formats.SizeRange) string {
	if r.Min == r.Max {
		return fmt.Sprint(r.Min)
	}
	return fmt.Sprintf("%d to %d (median %d)", r.Min, r.Max, r.Median)
}

func leastAndMost(counts []int) (least, most int) {
	for i, n := range counts {
		if i == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	return least, most
}
