package folder

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dsconv/dsconv/formats/labels"
)

// isMissing reports whether programs write the text for a value that is missing.
func isMissing(text string) bool {
	return slices.Contains([]string{"nan", "na", "n/a", "<na>", "none", "null"}, strings.ToLower(strings.TrimSpace(text)))
}

// blankMissing empties the cells of a label column that mean a missing value, if all others are numbers. Among names
// they may be classes, which missingNotices says.
func (l *labeler) blankMissing(at int, t labels.Type, classes []string) {
	if t != labels.Auto && t != labels.Index || slices.ContainsFunc(classes, isMissing) {
		return
	}
	numbers := false
	var missing []string
	for _, p := range l.table.Paths {
		cell := strings.TrimSpace(l.table.Rows[p][at])
		if isMissing(cell) {
			missing = append(missing, p)
			continue
		}
		if _, err := strconv.ParseFloat(cell, 64); err != nil && cell != "" {
			return
		}
		numbers = numbers || cell != ""
	}
	if numbers {
		for _, p := range missing {
			l.table.Rows[p][at] = ""
		}
	}
}

// missingNotices names the classes that may have been meant as missing values.
func (l *labeler) missingNotices() (list []string) {
	for _, f := range l.fields {
		if f.Sep != "" || f.Type != labels.Name {
			continue
		}
		counts := map[string]int{}
		for _, p := range l.table.Paths {
			if cell := strings.TrimSpace(l.table.Rows[p][f.column]); isMissing(cell) {
				counts[cell]++
			}
		}
		for _, class := range f.Classes {
			if n := counts[class]; n > 0 {
				list = append(list, fmt.Sprintf("%s: %d row(s) have the class %q; if that is no class, leave these cells empty", f.name, n, class))
			}
		}
	}
	return list
}
