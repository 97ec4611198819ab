package convert

import (
	"encoding/binary"

	"github.com/zeebo/xxh3"

	"github.com/dsconv/dsconv/formats"
)

// fingerprint hashes what a plan packs: the samples, their order and the files they go to.
type fingerprint struct {
	h *xxh3.Hasher
	b []byte
}

func newFingerprint() *fingerprint { return &fingerprint{h: xxh3.New()} }

func (f *fingerprint) sample(in *formats.Info, split string, ready bool) {
	f.b = append(append(append(f.b[:0], in.Key...), 0), split...)
	for _, x := range []int64{in.Source.Size, in.Source.ModTime, in.Label} {
		f.b = binary.LittleEndian.AppendUint64(f.b, uint64(x))
	}
	f.b = append(f.b, in.Checksum[:]...)
	if ready {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
}

func (f *fingerprint) file(keep bool, end int) {
	f.b = binary.AppendVarint(append(f.b[:0], "file"...), int64(end))
	if keep {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
}

func (f *fingerprint) sum() uint64 { return f.h.Sum64() }
