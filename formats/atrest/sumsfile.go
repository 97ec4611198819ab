package atrest

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/dsconv/dsconv/formats"
)

// SumsName is the file of a dataset's folder that has the checksums.
const SumsName = "checksums"

// readSmall reads a file of the sidecar dir that describes the dataset and compares it with
// its checksums, so that what is parsed is what was written.
func (s Sums) readSmall(dir, name string) ([]byte, error) {
	file := filepath.Join(dir, name)
	i := slices.IndexFunc(s, func(fs FileSums) bool { return path.Base(fs.Name) == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w: it is not in the table of checksums", file, formats.ErrDamaged)
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, formats.Damaged(err)
	}
	if st.Size() != s[i].Size {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, %d were written", file, formats.ErrDamaged, st.Size(), s[i].Size)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		return nil, formats.Damaged(err)
	}
	if err := s[i].Verify(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ReadSums reads the block checksums of the sidecar dir. ErrDamaged if they are missing or
// do not check.
func ReadSums(dir string) (Sums, error) {
	file := filepath.Join(dir, SumsName)
	b, err := os.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, formats.Damaged(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := DecodeSums(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}
