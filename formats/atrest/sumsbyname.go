package atrest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// sumsByName finds the checksums of a file.
type sumsByName map[string]FileSums

func (s Sums) byName() sumsByName {
	m := make(sumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// sumsOf are the checksums that the table has of a file.
func (m sumsByName) sumsOf(name string) (FileSums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}
