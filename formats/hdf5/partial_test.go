//go:build cgo

package hdf5

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"path/filepath"
	"testing"

	"github.com/dsconv/dsconv/formats"
	"github.com/dsconv/dsconv/internal/storage/checksum"
	"github.com/dsconv/dsconv/internal/storage/sidecar"
	"github.com/dsconv/dsconv/internal/storage/staging"
	"github.com/dsconv/dsconv/internal/testing/formatcheck"
)

func partialSamples() []*formats.Sample {
	samples := make([]*formats.Sample, 24)
	for i := range samples {
		samples[i] = fixtureSample(i)
	}
	return samples
}

// believable makes the checksums of the last checkpoint those of the files as they are.
func believable(p *formatcheck.Partial) {
	var states []staging.FileState
	if json.Unmarshal(p.State, &states) != nil {
		return
	}
	for i, st := range states {
		b := p.Files[filepath.Join("data", st.Name)]
		if st.Size < 0 || st.Size > int64(len(b)) || st.Size > checksum.BlockSize {
			continue
		}
		content := append([]byte(nil), b[:st.Size]...)
		if i == 0 {
			clear(content[:min(headSize, len(content))])
		}
		var sums []byte
		if len(content) > 0 {
			sums = binary.LittleEndian.AppendUint32(nil, crc32.Checksum(content, checksum.Castagnoli))
		}
		states[i].Digest = crc32.Checksum(sums, checksum.Castagnoli)
	}
	if b, err := json.Marshal(states); err == nil {
		p.State = b
	}
}

// What cannot be parsed of a journal or a field's index is refused.
func TestMadeUpStages(t *testing.T) {
	whole := formatcheck.Stopped(t, Format{}, "x.h5", fixtureMeta, partialSamples())
	index := filepath.Join("data", "field2.index")
	for name, change := range map[string]func(p *formatcheck.Partial){
		"more dimensions than HDF5 takes": func(p *formatcheck.Partial) { p.Files[index] = formatcheck.Over(p.Files[index], 3, []byte{0xff}) },
		"a length before the beginning":   func(p *formatcheck.Partial) { p.State = []byte(`[{"Name":"images","Size":-5}]`) },
		"fewer files":                     func(p *formatcheck.Partial) { p.State = []byte(`[]`) },
	} {
		t.Run(name, func(t *testing.T) {
			p := whole.Clone()
			change(p)
			believable(p)
			path := filepath.Join(t.TempDir(), "x.h5")
			p.Store(t, path+sidecar.PartialSuffix)
			if err := formatcheck.GoOn(Format{}, path, partialSamples()); !errors.Is(err, formats.ErrDamaged) {
				t.Errorf("%v, want ErrDamaged", err)
			}
			if err := staging.Discard(path); err != nil {
				t.Error(err)
			}
		})
	}
	p := whole.Clone()
	believable(p)
	path := filepath.Join(t.TempDir(), "x.h5")
	p.Store(t, path+sidecar.PartialSuffix)
	if err := formatcheck.GoOn(Format{}, path, partialSamples()); err != nil {
		t.Fatal(err)
	}
}

// FuzzPartial: see formattest.
func FuzzPartial(f *testing.F) {
	formatcheck.FuzzPartial(f, Format{}, "x.h5", fixtureMeta, partialSamples(), believable)
}
