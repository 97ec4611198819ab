package checksum

import (
	"fmt"

	"github.com/dsconv/dsconv/formats"
)

// ChecksumsByName maps file names to checksums.
type ChecksumsByName map[string]FileChecksums

// ByName returns the checksums of each file by its name.
func (s Checksums) ByName() ChecksumsByName {
	m := make(ChecksumsByName, len(s))
	for _, fs := range s {
		if _, twice := m[fs.Name]; !twice {
			m[fs.Name] = fs
		}
	}
	return m
}

// ForFile returns the checksums of the named file.
func (m ChecksumsByName) ForFile(name string) (FileChecksums, error) {
	fs, ok := m[name]
	if !ok {
		return fs, fmt.Errorf("%w: %s is not in the table of checksums", formats.ErrDamaged, name)
	}
	return fs, nil
}
