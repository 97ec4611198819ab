package atrest

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// checksumsByName maps file names to checksums.
type checksumsByName map[string]FileChecksums

func (s Checksums) byName() checksumsByName {
	m := make(checksumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// forFile returns the checksums of the named file.
func (m checksumsByName) forFile(name string) (FileChecksums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}
