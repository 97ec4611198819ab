package main

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/verify"
)

// mostLines is how many things of one kind are printed; --json lists all.
const maxLines = 20

func (v *verifyResult) print(c *console, quick bool) {
	if v.Repaired != nil {
		printRepaired(c, v.Repaired)
	}
	for _, s := range v.Dataset {
		c.printf("damaged: %s\n", printable(s))
	}
	printUpTo(c, v.Blocks, "places in files", func(b formats.Damage) string {
		return fmt.Sprintf("damaged: %s, bytes %d to %d: %s", printable(b.File), b.Offset, b.Offset+b.Length, b.Cause)
	})
	v.printSamples(c)
	if !v.Sound() {
		return
	}
	for _, s := range v.Notes {
		c.printf("note: %s\n", printable(s))
	}
	switch {
	case quick:
		c.printf("the files of %d samples and what describes them are in order; the images were not read\n", v.Checked)
	default:
		c.printf("%d samples and all files are what was written\n", v.Checked)
	}
}

// printSamples names the first damaged samples and counts them all by what is wrong. If none
// is whole, their names tell nothing.
func (v *verifyResult) printSamples(c *console) {
	all := len(v.Samples) == v.Checked && len(v.Samples) > maxLines
	if !all {
		printUpTo(c, v.Samples, "damaged samples", func(s verify.Sample) string {
			return fmt.Sprintf("damaged sample: %s: %s", printable(s.Key), printable(s.Cause))
		})
	}
	if len(v.Samples) <= maxLines {
		return
	}
	if all {
		c.printf("none of the %d samples is what was written: are these the files of this dataset?\n", len(v.Samples))
	}
	causes := map[string]int{}
	for _, s := range v.Samples {
		causes[generalCause(s.Cause)]++
	}
	often := slices.SortedFunc(maps.Keys(causes), func(a, b string) int {
		return cmp.Or(cmp.Compare(causes[b], causes[a]), cmp.Compare(a, b))
	})
	printUpTo(c, often, "causes", func(cause string) string {
		return fmt.Sprintf("  %d samples: %s", causes[cause], printable(cause))
	})
}

var (
	numbers  = regexp.MustCompile(`\d+`)
	inQuotes = regexp.MustCompile(`"[^"]*"`)
)

// kindOfCause is a cause without what is only the one sample's: where it lies, numbers, and words
// in quotes.
func generalCause(cause string) string {
	if in, rest, ok := strings.Cut(cause, ": "); ok && strings.HasPrefix(in, "in ") {
		cause = rest
	}
	return numbers.ReplaceAllString(inQuotes.ReplaceAllString(cause, `"..."`), "N")
}

// printUpTo prints a line for each thing of a list, or how many more there are.
func printUpTo[T any](c *console, list []T, what string, line func(T) string) {
	for i, x := range list {
		if i == maxLines {
			c.printf("... and %d more %s (--json lists all)\n", len(list)-i, what)
			return
		}
		c.printf("%s\n", line(x))
	}
}
