package checksum

import (
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/unblocked"
)

// ChecksumsName is the name of the file with the checksums in the folder that describes a dataset.
const ChecksumsName = "checksums"

// ReadSmall reads a small file of the sidecar dir and compares it with its checksums, so that
// only what was written is parsed.
func (s Checksums) ReadSmall(dir, name string) ([]byte, error) {
	file := filepath.Join(dir, name)
	i := slices.IndexFunc(s, func(fs FileChecksums) bool { return path.Base(fs.Name) == name })
	if i < 0 {
		return nil, fmt.Errorf("%s: %w: it is not in the table of checksums", file, formats.ErrDamaged)
	}
	st, err := os.Stat(file)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	if st.Size() != s[i].Size {
		return nil, fmt.Errorf("%s: %w: it has %d bytes, but %d were written", file, formats.ErrDamaged, st.Size(), s[i].Size)
	}
	b, err := unblocked.ReadFile(file)
	if err != nil {
		return nil, formats.WrapDamaged(err)
	}
	if err := s[i].Verify(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ReadChecksums reads the block checksums of the sidecar dir; ErrDamaged if they are missing or
// damaged.
func ReadChecksums(dir string) (Checksums, error) {
	file := filepath.Join(dir, ChecksumsName)
	b, err := unblocked.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return nil, formats.WrapDamaged(err)
	}
	if err != nil {
		return nil, err
	}
	s, err := DecodeChecksums(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return s, nil
}

// Hash returns the XXH3-128 of b in its canonical, big-endian form.
func Hash(b []byte) [16]byte { return xxh3.Hash128(b).Bytes() }

// SampleChecksum returns a sample's checksum in the manifest: XXH3-128 of the concatenated Data
// of its values, without a designated label of kind Label, which the manifest holds itself. For
// an image with such a label it is the hash of the image's bytes.
func SampleChecksum(schema formats.Schema, s *formats.Sample) [16]byte {
	img, lab := schema.ImageIndex(), schema.LabelIndex()
	if lab >= 0 && schema[lab].Kind != formats.Label {
		lab = -1
	}
	others := len(s.Values) - 1
	if lab >= 0 {
		others--
	}
	if others == 0 {
		return Hash(s.Values[img].Data)
	}
	h := xxh3.New()
	for i := range s.Values {
		if i != lab {
			_, _ = h.Write(s.Values[i].Data)
		}
	}
	return h.Sum128().Bytes()
}
