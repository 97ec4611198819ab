package layout

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dsconv/dsconv/formats/folder/internal/ilsvrc"
	"github.com/dsconv/dsconv/formats/folder/internal/vfs"
)

// Order returns the different names in the order of their class indices.
func Order(in vfs.FS, names []string, order string) ([]string, error) {
	names = slices.Clone(names)
	switch order {
	case "":
		slices.Sort(names)
	case "natural":
		slices.SortFunc(names, compareNatural)
	default:
		return classesFrom(in, order, names)
	}
	return slices.Compact(names), nil
}

// classesFrom reads the classes' order from a file, which must name all classes found and may
// name more. In LOC_synset_mapping.txt a class is the first word of its line.
func classesFrom(in vfs.FS, file string, found []string) ([]string, error) {
	b, err := vfs.ReadText(in, file)
	if err != nil {
		return nil, fmt.Errorf("read the class order: %w", err)
	}
	var names []string
	first := map[string]int{}
	n := 0
	synsets, mapping := ilsvrc.SynsetNames(b)
	mapping = mapping && len(found) > 0 && slices.Contains(synsets, found[0])
	for line := range strings.Lines(string(b)) {
		n++
		if line = strings.TrimRight(line, "\r\n"); line == "" {
			continue
		}
		if mapping {
			line = strings.Fields(line)[0]
		}
		if before, twice := first[line]; twice {
			return nil, fmt.Errorf("%s: line %d: the class %q is a duplicate of line %d", file, n, line, before)
		}
		first[line] = n
		names = append(names, line)
	}
	for _, name := range found {
		if _, ok := first[name]; !ok {
			return nil, fmt.Errorf("%s: the class %q is missing; add it on a line of its own", file, name)
		}
	}
	return names, nil
}

// compareNatural compares runs of digits by value: "2" comes before "10".
func compareNatural(a, b string) int {
	x, y := a, b
	for x != "" && y != "" {
		dx, dy := digits(x), digits(y)
		if dx > 0 && dy > 0 {
			if c := compareNumbers(x[:dx], y[:dy]); c != 0 {
				return c
			}
			x, y = x[dx:], y[dy:]
			continue
		}
		if x[0] != y[0] {
			return int(x[0]) - int(y[0])
		}
		x, y = x[1:], y[1:]
	}
	if c := len(x) - len(y); c != 0 {
		return c
	}
	return strings.Compare(a, b) // "1" and "01"
}

func compareNumbers(x, y string) int {
	x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
	if len(x) != len(y) {
		return len(x) - len(y)
	}
	return strings.Compare(x, y)
}

func digits(s string) int {
	n := 0
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	return n
}
