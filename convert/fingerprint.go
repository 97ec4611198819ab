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

	entries *xxh3.Hasher // of all that the source list has
	unsure  bool         // a file could have changed unseen: its time is not known
}

func newFingerprint() *fingerprint { return &fingerprint{h: xxh3.New(), entries: xxh3.New()} }

// sample adds a sample; label is what the source list has.
func (f *fingerprint) sample(in *formats.Info, label int64, split string, ready bool) {
	f.b = append(append(append(f.b[:0], in.Key...), 0), split...)
	for _, x := range []int64{in.Source.Size, in.Source.ModTime, in.Label} {
		f.b = binary.LittleEndian.AppendUint64(f.b, uint64(x))
	}
	f.b = append(f.b, in.Checksum[:]...)
	if ready {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
	f.b = binary.LittleEndian.AppendUint64(append(f.b, in.Source.Path...), uint64(label))
	for _, c := range in.Columns {
		f.b = append(append(f.b, 0), c...)
	}
	_, _ = f.entries.Write(f.b)
	f.unsure = f.unsure || in.Source.ModTime == 0 && in.Checksum == [16]byte{}
}

// sourceList identifies the source list: if it is that of an earlier run, the source has not changed. 0 if that cannot be known.
func (f *fingerprint) sourceList() uint64 {
	if f.unsure {
		return 0
	}
	return f.entries.Sum64()
}

func (f *fingerprint) file(keep bool, end int) {
	f.b = binary.AppendVarint(append(f.b[:0], "file"...), int64(end))
	if keep {
		f.b = append(f.b, 1)
	}
	_, _ = f.h.Write(f.b)
}

func (f *fingerprint) sum() uint64 { return f.h.Sum64() }
