package checksum

import (
	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
)

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
