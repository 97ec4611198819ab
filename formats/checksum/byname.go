package checksum

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// SumsByName finds the checksums of a file.
type SumsByName map[string]FileSums

func (s Sums) ByName() SumsByName {
	m := make(SumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// SumsOf are the checksums that the table has of a file.
func (m SumsByName) SumsOf(name string) (FileSums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}
